/**
 * Everything that draws nothing, looks like a blank without being one, or moves other letters about. A notice and a menu are drawn by
 * somebody else: what reaches them has to be what it looks like.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu

/** One line in which nothing hides: each such character is shown by its number. At most `most` characters, the cut being seen. */
export function plainLine(text: string, most = 160): string {
  const shown = text.replace(HIDDEN, (character) =>
    character === '\n' || character === '\t' || character === '\r'
      ? ' '
      : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
  const characters = [...shown.replace(/ +/g, ' ').trim()]
  return characters.length <= most ? characters.join('') : `${characters.slice(0, most - 1).join('')}…`
}

/** The same for a text of a few lines. */
export const plainLines = (text: string, most = 4): string =>
  text
    .split('\n')
    .slice(0, most)
    .map((line) => plainLine(line))
    .join('\n')
