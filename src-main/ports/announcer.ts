/** Tells the operator that something waits. A surface that has really shown it says so; nothing here can answer. */
export interface Announcer {
  readonly surface: 'window' | 'notification' | 'tray' | 'cli'
  /** Resolves to true once shown, to false when this surface cannot show it. */
  announce(notice: { readonly approvalId: string; readonly title: string; readonly body: string }): Promise<boolean>
  withdraw(approvalId: string): void
}
