/** Another shell parser, of other authors: what both see alike is what may run without being asked about (gate step after `classify`). */
export interface SecondParser {
  /** Resolves once it can be asked, or once it is known that it cannot. Never rejects; every call after the first is immediate. */
  ready(): Promise<void>
  /**
   * The name of every simple command it sees, in the order of the text, as typed (quotes included). Null when it could not read the
   * text whole: it is not loaded, or the tree holds an error.
   */
  commandNames(text: string): readonly string[] | null
}
