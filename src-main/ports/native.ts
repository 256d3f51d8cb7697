/** What stands on a notice of the desktop. Texts are plain; a body may have several lines. */
export interface NoticeText {
  readonly title: string
  readonly body: string
  readonly urgency: 'normal' | 'critical'
  /** In the order they are shown; `default` is the click on the notice itself. */
  readonly actions: readonly { readonly key: string; readonly label: string }[]
}

/** The notices of the desktop, each under a key of ours. */
export interface Notices {
  /** Looks what this desktop has. Never throws. */
  begin(): Promise<void>
  /** Resolves to true once the notice stands. Again under the same key: in the place of the one before. */
  show(key: string, text: NoticeText): Promise<boolean>
  withdraw(key: string): void
  /** Only what was offered on a notice of ours is heard. */
  onAction(listener: (key: string, action: string) => void): void
  onChange(listener: () => void): void
  state(): { readonly available: boolean; readonly buttons: boolean; readonly sentence: string }
}

/** Where status icons are shown. */
export interface TrayHost {
  /** Looks for it and follows it from then on. Never throws. */
  begin(): Promise<void>
  /** False when none can come for as long as Nomos runs. */
  readonly possible: boolean
  present(): boolean
  /** Why there is none, as the end of a sentence. */
  reason(): string
  /** Whether the host has taken the icon of this process. */
  registered(): Promise<boolean>
  /**
   * Why the click that has just come may not be obeyed, null when nothing speaks against it: on some desktops a menu is a service
   * that other programs can call.
   */
  reasonAgainstClick(): Promise<string | null>
  onChange(listener: () => void): void
}

/** Whether the screen is locked, where that can be told. */
export interface ScreenLock {
  begin(): Promise<void>
  /** As last heard; null when nobody can tell. */
  last(): boolean | null
  /** Asked anew, for an answer that depends on it. */
  ask(): Promise<boolean | null>
  onChange(listener: () => void): void
}

/** The parts of a desktop that differ from system to system. */
export interface NativeDesktop {
  readonly notices: Notices
  readonly trayHost: TrayHost
  readonly lock: ScreenLock
  /** Resolves once what was said last, a withdrawal for one, is on its way. */
  close(): Promise<void>
}
