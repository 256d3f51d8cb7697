/** A line for whoever looks for a fault. Texts go through the redactor before they reach it. */
export interface Log {
  info(message: string, data?: Readonly<Record<string, unknown>>): void
  warn(message: string, data?: Readonly<Record<string, unknown>>): void
  error(message: string, data?: Readonly<Record<string, unknown>>): void
}
