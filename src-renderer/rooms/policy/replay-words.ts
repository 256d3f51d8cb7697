import type { Replay } from '../../../src-preload/contract'
import { counted } from '../../parts/time'

/** What a change would have meant, in one or two sentences. */
export function replaySentence(replay: Replay): string {
  if (replay.considered === 0)
    return replay.skipped === 0
      ? 'Nothing has run yet that this change could be held against.'
      : `None of the last ${counted(replay.skipped, 'execution', 'executions')} can be judged again, so this change cannot be held against them.`
  const of = `of the last ${counted(replay.considered, 'execution', 'executions')}`
  const destructive =
    replay.destructiveAmongThem === 0
      ? 'none of them destructive'
      : replay.destructiveAmongThem === replay.wouldNotAsk
        ? `${replay.wouldNotAsk === 1 ? 'it was' : 'all of them'} destructive`
        : `${replay.destructiveAmongThem} of them destructive`
  const parts: string[] = []
  if (replay.wouldNotAsk === 0 && replay.wouldAskMore === 0)
    parts.push(`With this change, ${of} every one would have been treated as it was.`)
  else {
    parts.push(
      replay.wouldNotAsk === 0
        ? `With this change, ${of} none would have run without the question it asked.`
        : `With this change, ${of} ${replay.wouldNotAsk} would not have asked, ${destructive}.`,
    )
    if (replay.wouldAskMore > 0)
      parts.push(
        `${replay.wouldAskMore} would have asked or been refused where ${replay.wouldAskMore === 1 ? 'it' : 'they'} did not before.`,
      )
  }
  if (replay.skipped > 0) parts.push(`${replay.skipped} more cannot be judged again.`)
  return parts.join(' ')
}
