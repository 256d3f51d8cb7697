import type { Failure } from '../../src-preload/contract'
import { Fold } from './Fold'
import { Icon } from './icons'
import { Visible } from './Visible'

/** What happened, why and what to do, with the technical detail on demand. */
export function FailureText({ failure, testId }: { readonly failure: Failure; readonly testId?: string }) {
  return (
    <div className="flex gap-2 text-destructive" data-testid={testId} role="alert">
      <Icon className="mt-0.5" name="warning" size={14} />
      <div className="min-w-0 break-words">
        <Visible text={failure.message} />
        {failure.detail === null || failure.detail === '' ? null : (
          <Fold label="Detail">
            <p className="break-words font-mono text-code text-ink-2">
              <Visible text={failure.detail} />
            </p>
          </Fold>
        )}
      </div>
    </div>
  )
}
