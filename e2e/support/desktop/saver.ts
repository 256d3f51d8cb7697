import { Message, MessageType } from '@jellybrick/dbus-next'
import type { TestBus } from './bus'

/** A screen saver that says whether the screen is locked. */
export interface Saver {
  lock(on: boolean): void
}

const NAME = 'org.freedesktop.ScreenSaver'
const PATH = '/org/freedesktop/ScreenSaver'

export async function startSaver(bus: TestBus): Promise<Saver> {
  const connection = await bus.connect()
  let locked = false
  connection.addMethodHandler((message: Message) => {
    if (message.type !== MessageType.METHOD_CALL || message.path !== PATH || message.member !== 'GetActive')
      return false
    connection.send(Message.newMethodReturn(message, 'b', [locked]))
    return true
  })
  await connection.requestName(NAME)
  return {
    lock(on) {
      locked = on
      connection.send(Message.newSignal(PATH, NAME, 'ActiveChanged', 'b', [on]))
    },
  }
}
