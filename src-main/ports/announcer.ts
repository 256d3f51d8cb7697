/** What a surface is told of an approval that waits. All text is redacted and of one line. */
export interface Notice {
  readonly approvalId: string
  readonly executionId: string
  /** The digest of what waits; an answer has to name it. */
  readonly digest: string
  readonly title: string
  readonly body: string
  /** How many others wait. */
  readonly others: number
  /** Whether this surface may offer "Approve once". False: it says "Review" and leads to the card. */
  readonly mayApprove: boolean
}

/**
 * Tells the operator that something waits. A surface that has really shown it says so; nothing here can answer. Forwarding to a chat
 * network is one more of these: whatever comes back from there is an answer of the surface `mcp`, which may settle nothing.
 */
export interface Announcer {
  readonly surface: 'window' | 'notification' | 'tray' | 'cli'
  /** Resolves to true once shown, to false when this surface cannot show it. Again for the same approval: shows it anew. */
  announce(notice: Notice): Promise<boolean>
  withdraw(approvalId: string): void
}
