/** What has to be typed for a command that cannot be undone: `<verb> <target>`, e.g. `rm local` or `destroy lxc:caddy`. */
export const phraseFor = (verb: string, target: string): string => `${verb} ${target}`

/** Whether what was typed is the phrase. Outer space and runs of space do not count; everything else does. */
export const phraseFits = (typed: string | null, phrase: string): boolean =>
  typed !== null &&
  typed
    .normalize('NFC')
    .trim()
    .replace(/[ \t]+/g, ' ') === phrase
