import type { DecodedWord } from '../../../src-preload/contract'
import { Fold } from '../Fold'
import { Visible } from '../Visible'

/** More words than this are for the text itself; the rest is counted. */
const MOST = 200

/** What the programs of a command are really given, word by word, where quotes and escapes make that hard to see in the text. */
export function DecodedWords({ argv }: { readonly argv: readonly (readonly DecodedWord[])[] }) {
  let room = MOST
  const shown = argv.map((words) => {
    const some = words.slice(0, room)
    room -= some.length
    return some
  })
  const left = argv.reduce((sum, words) => sum + words.length, 0) - (MOST - room)
  const later = argv.some((words) => words.some(({ known }) => !known))
  return (
    <div data-testid="decoded">
      <Fold label="Decoded words">
        <div className="mt-1 space-y-1.5 text-ink-2">
          <ol className="space-y-1.5">
            {shown
              .filter((words) => words.length > 0)
              .map((words, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: commands have no identity but their place
                <li className="flex flex-wrap gap-1" key={index}>
                  {words.map(({ text, known }, at) => (
                    <code
                      className={`word exact font-mono text-code text-ink ${known ? '' : 'word-later'}`}
                      // biome-ignore lint/suspicious/noArrayIndexKey: words have no identity but their place
                      key={at}
                    >
                      {text === '' ? <span className="text-ink-3">empty</span> : <Visible inWord text={text} />}
                    </code>
                  ))}
                </li>
              ))}
          </ol>
          {left > 0 ? <p>and {left} more</p> : null}
          {later ? <p className="text-ink-3">Dashed: as typed, settled only when it runs.</p> : null}
        </div>
      </Fold>
    </div>
  )
}
