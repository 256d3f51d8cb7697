import { Message, type MessageBus, MessageType, Variant } from '@jellybrick/dbus-next'
import { type TestBus, until } from './bus'

/** An entry of a menu, as the panel gets it. */
export interface Entry {
  readonly id: number
  readonly label: string
  readonly enabled: boolean
  readonly checked: boolean
  readonly entries: readonly Entry[]
}

/** A panel that shows status icons: a watcher with a host. */
export interface Panel {
  /** Waits until the app has put its icon there. */
  icon(): Promise<void>
  hasIcon(): boolean
  /** Width and height of the largest image, and the text shown at it. */
  look(): Promise<{ readonly width: number; readonly height: number; readonly pixels: string; readonly tip: string }>
  menu(): Promise<readonly Entry[]>
  /** The numbers of all entries. */
  ids(): Promise<readonly number[]>
  /** Every label of the menu, submenus with them. */
  labels(): Promise<readonly string[]>
  /** Presses the entry at the end of this path of labels (each a part of one). */
  click(...path: string[]): Promise<void>
  /** Where the service of an entry is, for whoever else would press it. */
  address(...path: string[]): Promise<{ readonly item: string; readonly menu: string; readonly id: number }>
  /** Presses the icon itself. */
  activate(): Promise<void>
  /** Takes the panel away. */
  leave(): Promise<void>
}

const WATCHER = 'org.kde.StatusNotifierWatcher'
const ITEM = 'org.kde.StatusNotifierItem'
const MENU = 'com.canonical.dbusmenu'

const value = (of: unknown): unknown => (of instanceof Variant ? of.value : of)

function entryOf(raw: unknown): Entry {
  const [id, properties, children] = value(raw) as [number, Record<string, unknown>, unknown[]]
  return {
    id,
    // In a menu of the bus an underline marks a key, and stands twice where it is meant.
    label: String(value(properties.label) ?? '').replace(/_(.)/g, '$1'),
    enabled: value(properties.enabled) !== false,
    checked: value(properties['toggle-state']) === 1,
    entries: children.map(entryOf),
  }
}

const flat = (entries: readonly Entry[]): readonly Entry[] => entries.flatMap((one) => [one, ...flat(one.entries)])

export async function startPanel(bus: TestBus): Promise<Panel> {
  const connection: MessageBus = await bus.connect()
  const items: string[] = []
  const ownProperty = (name: string): Variant | null => {
    if (name === 'IsStatusNotifierHostRegistered') return new Variant('b', true)
    if (name === 'ProtocolVersion') return new Variant('i', 0)
    const listed = items.map((item) => `${item}/StatusNotifierItem`)
    return name === 'RegisteredStatusNotifierItems' ? new Variant('as', listed) : null
  }
  connection.addMethodHandler((message: Message) => {
    if (message.type !== MessageType.METHOD_CALL || message.path !== '/StatusNotifierWatcher') return false
    const answer = (signature = '', body: unknown[] = []): boolean => {
      connection.send(Message.newMethodReturn(message, signature, body))
      return true
    }
    switch (message.member) {
      case 'Get': {
        const found = ownProperty(String(message.body[1]))
        return found === null ? false : answer('v', [found])
      }
      case 'RegisterStatusNotifierItem':
        items.push(String(message.body[0]))
        return answer()
      case 'RegisterStatusNotifierHost':
        return answer()
      default:
        return false
    }
  })
  await connection.requestName(WATCHER)

  const call = async (
    path: string,
    iface: string,
    member: string,
    signature: string,
    body: unknown[],
  ): Promise<unknown[]> => {
    const item = items.at(-1)
    if (item === undefined) throw new Error('there is no icon')
    const reply = await connection.call(
      new Message({ destination: item, path, interface: iface, member, signature, body }),
    )
    return reply?.body ?? []
  }
  const property = async (name: string): Promise<unknown> =>
    value((await call('/StatusNotifierItem', 'org.freedesktop.DBus.Properties', 'Get', 'ss', [ITEM, name]))[0])

  async function menu(): Promise<readonly Entry[]> {
    const path = String(await property('Menu'))
    const [, root] = await call(path, MENU, 'GetLayout', 'iias', [0, -1, []])
    return entryOf(root).entries
  }

  async function address(...path: string[]): Promise<{ item: string; menu: string; id: number }> {
    let entries = await menu()
    let found: Entry | undefined
    for (const part of path) {
      found = entries.find(({ label }) => label.includes(part))
      if (found === undefined)
        throw new Error(`no entry "${part}" among ${entries.map(({ label }) => label).join(', ')}`)
      entries = found.entries
    }
    const item = items.at(-1)
    if (found === undefined || item === undefined) throw new Error('no entry was named, or there is no icon')
    return { item, menu: String(await property('Menu')), id: found.id }
  }

  return {
    icon: () => until('the icon in the panel', () => items.length > 0),
    hasIcon: () => items.length > 0,
    async look() {
      const images = (await property('IconPixmap')) as [number, number, Buffer][]
      const [width, height, pixels] = [...images].sort((a, b) => b[0] - a[0])[0] ?? [0, 0, Buffer.alloc(0)]
      const [, , title] = (await property('ToolTip')) as [string, unknown, string, string]
      return { width, height, pixels: Buffer.from(pixels).toString('base64'), tip: title }
    },
    menu,
    ids: async () => flat(await menu()).map(({ id }) => id),
    labels: async () =>
      flat(await menu())
        .map(({ label }) => label)
        .filter((label) => label !== ''),
    async click(...path) {
      for (let attempt = 1; ; attempt += 1) {
        const { menu, id } = await address(...path)
        try {
          await call(menu, MENU, 'Event', 'isvu', [id, 'clicked', new Variant('i', 0), 0])
          return
        } catch (error) {
          // The menu was made anew meanwhile, and nothing was pressed: whoever sits there presses once more.
          if (attempt >= 5 || !String(error).includes('error occurred in Event')) throw error
        }
      }
    },
    address,
    async activate() {
      await call('/StatusNotifierItem', ITEM, 'Activate', 'ii', [0, 0])
    },
    async leave() {
      items.length = 0
      await connection.releaseName(WATCHER)
    },
  }
}
