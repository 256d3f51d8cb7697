/** A text inside a body that the server reads as markup: nothing in it can open or end a mark. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
