import type { ExecutionView } from '../../../src-preload/contract'
import { Visible } from '../Visible'
import { principalWord } from '../words'

/** Why it is asked for, and by whom. */
export function Purpose({ view }: { readonly view: ExecutionView }) {
  const who = principalWord(view.principal)
  if (view.purpose === null || view.purpose === '') {
    return (
      <p className="text-ink-2">
        asked by {who}
        {view.principal.kind === 'operator' ? '' : ', who gave no purpose'}
      </p>
    )
  }
  return (
    <p className="break-words text-ink-2">
      <span className="text-ink-3">why: </span>
      <span className="text-ink">
        <Visible text={view.purpose} />
      </span>
      <span className="text-ink-3"> · asked by {who}</span>
    </p>
  )
}
