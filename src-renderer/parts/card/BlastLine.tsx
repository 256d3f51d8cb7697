import type { BlastRadius } from '../../../src-preload/contract'
import { Fold } from '../Fold'
import { counted } from '../time'
import { Visible } from '../Visible'

/** Named on the line itself; the table has the rest. */
const ON_THE_LINE = 3

/** What depends on the places that a command changes: how many, the nearest by name, all that are known in a table. */
export function BlastLine({ blast }: { readonly blast: BlastRadius }) {
  const { total, dependents, targets } = blast
  if (total === 0) {
    return (
      <p className="text-ink-2" data-testid="blast">
        Nothing is known to depend on it.
      </p>
    )
  }
  const named = dependents.slice(0, ON_THE_LINE)
  const rest = total - named.length
  return (
    <div data-testid="blast">
      <Fold
        label={
          <span className="break-words">
            <span className="text-ink-3">depends on it: </span>
            <span className="text-ink">{total.toLocaleString('en-GB')}</span>
            {named.length === 0 ? null : (
              <>
                {' — '}
                {named.map(({ slug }, index) => (
                  <span key={slug}>
                    {index === 0 ? '' : ', '}
                    <code className="logical break-all font-mono text-code text-ink">
                      <Visible text={slug} />
                    </code>
                  </span>
                ))}
                {rest > 0 ? ` and ${rest.toLocaleString('en-GB')} more` : ''}
              </>
            )}
          </span>
        }
      >
        <div className="mt-1 max-h-56 max-w-[560px] overflow-auto rounded border border-line" data-testid="blast-table">
          <table className="w-full text-left">
            <caption className="visually-hidden">What depends on it</caption>
            <thead className="text-ink-3">
              <tr>
                <th className="px-3 py-1 font-normal">what</th>
                <th className="px-3 py-1 font-normal">kind</th>
                <th className="px-3 py-1 font-normal">how near</th>
              </tr>
            </thead>
            <tbody>
              {dependents.map(({ slug, kind, steps }) => (
                <tr className="border-line border-t align-top" key={slug}>
                  <td className="px-3 py-0.5">
                    <code className="logical break-all font-mono text-code text-ink">
                      <Visible text={slug} />
                    </code>
                  </td>
                  <td className="px-3 py-0.5">
                    <Visible text={kind} />
                  </td>
                  <td className="tabular px-3 py-0.5">{steps === 1 ? 'directly' : `over ${steps} steps`}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p className="mt-1 break-words text-meta text-ink-3">
          {total > dependents.length ? `${counted(total - dependents.length, 'more is', 'more are')} not listed. ` : ''}
          By the relationships that are known, of <Visible text={targets.join(', ')} />.
        </p>
      </Fold>
    </div>
  )
}
