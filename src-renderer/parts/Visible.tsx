import { visiblePieces } from './visible'

/** Text of others, in which every hidden character is shown by its name. */
export function Visible({ text, inWord = false }: { readonly text: string; readonly inWord?: boolean }) {
  return (
    <>
      {visiblePieces(text, inWord).map((piece, index) =>
        piece.kind === 'text' ? (
          piece.text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity but their place
          <mark className="chip font-mono" key={index} title={piece.title}>
            {piece.label}
          </mark>
        ),
      )}
    </>
  )
}
