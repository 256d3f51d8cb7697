const NAMES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A text inside a body that the server reads as markup: nothing in it can open or end a mark. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (character) => NAMES[character] ?? '')
}
