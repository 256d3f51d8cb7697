import { memo, useMemo } from 'react'
import { blockOf, blocksOf, inlinesOf, type List } from './markdown'
import { Visible } from './Visible'

function Inlines({ text }: { readonly text: string }) {
  return (
    <>
      {inlinesOf(text).map((inline, index) => {
        const key = `${index}`
        switch (inline.kind) {
          case 'code':
            return (
              <code className="rounded-sm bg-raised px-1 font-mono text-code text-ink" key={key}>
                <Visible text={inline.text} />
              </code>
            )
          case 'bold':
            return (
              <strong className="font-semibold" key={key}>
                <Visible text={inline.text} />
              </strong>
            )
          case 'italic':
            return (
              <em key={key}>
                <Visible text={inline.text} />
              </em>
            )
          default:
            return <Visible key={key} text={inline.text} />
        }
      })}
    </>
  )
}

function ListView({ list }: { readonly list: List }) {
  const Tag = list.ordered ? 'ol' : 'ul'
  return (
    <Tag
      className={`space-y-0.5 pl-6 ${list.ordered ? 'list-decimal' : 'list-disc'}`}
      {...(list.ordered ? { start: list.first } : {})}
    >
      {list.items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity but their place
        <li key={index}>
          <span className="whitespace-pre-wrap">
            <Inlines text={item.text} />
          </span>
          {item.inner === null ? null : <ListView list={item.inner} />}
        </li>
      ))}
    </Tag>
  )
}

/** One block. Finished blocks keep their source, so a streaming answer only renders its last one again. */
const BlockView = memo(function BlockView({ source }: { readonly source: string }) {
  const block = blockOf(source)
  switch (block.kind) {
    case 'rule':
      return <hr className="border-line" />
    case 'heading':
      // Not a heading element: the outline of the page is the app's, not the model's.
      return (
        <p className="font-semibold">
          <Inlines text={block.text} />
        </p>
      )
    case 'quote':
      return (
        <blockquote className="whitespace-pre-wrap border-line border-l-2 pl-3 text-ink-2">
          <Inlines text={block.text} />
        </blockquote>
      )
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <pre className="overflow-x-auto rounded border border-line bg-panel px-3 py-2 font-mono text-code" tabIndex={0}>
          <code>
            <Visible text={block.text} />
          </code>
        </pre>
      )
    case 'list':
      return <ListView list={block} />
    case 'paragraph':
      return (
        <p className="whitespace-pre-wrap">
          <Inlines text={block.text} />
        </p>
      )
  }
})

/** A text in the small Markdown subset, as elements; nothing in it can become HTML. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text])
  return (
    <div className="min-w-0 space-y-2 break-words">
      {blocks.map((source, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block keeps its place while later ones stream in
        <BlockView key={index} source={source} />
      ))}
    </div>
  )
})
