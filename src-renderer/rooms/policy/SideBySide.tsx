import type { PolicyInspection, PolicyLayerView } from '../../../src-preload/contract'
import { Visible } from '../../parts/Visible'
import { FIELD_WORD, fromWord, type LayerField, meaningOf, wordOf } from './fields'

const ROWS = [
  'security',
  'ask',
  'askFallback',
  'autoAllowReadOnly',
  'riskGate',
  'strictInlineEval',
] as const satisfies readonly LayerField[]

function Cell({
  layer,
  field,
  column,
  decides,
}: {
  readonly layer: PolicyLayerView
  readonly field: LayerField
  readonly column: string
  readonly decides: boolean
}) {
  const { value, from } = layer[field]
  return (
    <td className="py-2 pr-3 align-top" data-testid={`${column}-${field}`}>
      <code className={`font-mono text-code ${decides ? 'text-ink' : 'text-ink-3'}`}>{wordOf(value)}</code>
      <span className="block break-words text-meta text-ink-3" title={from}>
        <Visible text={fromWord(from)} />
      </span>
    </td>
  )
}

/** Where the effective value comes from: the layer that is the stricter one. */
function decidedBy(inspection: PolicyInspection, field: LayerField): string {
  const effective = inspection.effective[field].value
  const requested = inspection.requested.layer[field].value === effective
  const host = inspection.host.layer[field].value === effective
  if (requested && host) return 'both say so'
  if (requested) return 'requested is stricter'
  if (host) return 'the host is stricter'
  return fromWord(inspection.effective[field].from)
}

/** What is requested, what the host allows, and what comes of the two, field by field with where each is written. */
export function SideBySide({ inspection }: { readonly inspection: PolicyInspection }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached by the keyboard
    <section aria-label="The policy side by side" className="overflow-x-auto" tabIndex={0}>
      <table className="w-full min-w-[520px] text-left" data-testid="policy-table">
        <thead className="text-ink-2">
          <tr className="border-line border-b">
            <th className="w-[34%] py-1.5 pr-3 font-normal" scope="col">
              Field
            </th>
            <th className="py-1.5 pr-3 font-normal" scope="col">
              Requested
            </th>
            <th className="py-1.5 pr-3 font-normal" scope="col">
              Host
            </th>
            <th className="py-1.5 font-medium text-ink" scope="col">
              Effective
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {ROWS.map((field) => {
            const effective = inspection.effective[field].value
            return (
              <tr key={field}>
                <th className="py-2 pr-3 align-top font-normal" scope="row">
                  {FIELD_WORD[field]}
                  <span className="block text-meta text-ink-3">{meaningOf(field, effective)}</span>
                </th>
                <Cell
                  column="requested"
                  decides={inspection.requested.layer[field].value === effective}
                  field={field}
                  layer={inspection.requested.layer}
                />
                <Cell
                  column="host"
                  decides={inspection.host.layer[field].value === effective}
                  field={field}
                  layer={inspection.host.layer}
                />
                <td className="py-2 align-top" data-testid={`effective-${field}`}>
                  <code className="font-mono text-code text-ink">{wordOf(effective)}</code>
                  <span className="block text-meta text-ink-3">
                    <Visible text={decidedBy(inspection, field)} />
                  </span>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}
