import type { ExecutionView } from '../../../src-preload/contract'
import { visibleText } from '../visible'

/** The first line of a command, cut to `most` characters. */
export function firstLine(command: string, most: number): string {
  const line = visibleText(command.split('\n')[0] ?? '')
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

/** The words for what is asked, used in labels: "restart caddy … on lxc:caddy". */
export const nameOf = (view: ExecutionView): string => `${firstLine(view.command, 60)} on ${visibleText(view.target)}`
