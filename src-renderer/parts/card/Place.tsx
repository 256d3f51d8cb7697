import { Visible } from '../Visible'

/** A folder or a user; when none is named the target's own is used. */
export function Place({ value }: { readonly value: string | null }) {
  if (value === null) return 'the default of the target'
  return (
    <code className="logical break-all font-mono text-code">
      <Visible text={value} />
    </code>
  )
}
