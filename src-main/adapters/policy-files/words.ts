const KIND: Readonly<Record<string, string>> = {
  string: 'a text',
  array: 'a list',
  object: 'a table of fields',
  record: 'a table of fields',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  null: 'nothing',
}

/** What a schema says about a value, in words for the person who wrote the file. */
export function plainWords(what: string): string {
  const wrong = /^Invalid input: expected (\w+), received (\w+)$/.exec(what)
  if (wrong !== null) {
    const [, expected = '', received = ''] = wrong
    if (received === 'undefined') return 'is missing'
    return `should be ${KIND[expected] ?? expected} and is ${KIND[received] ?? received}`
  }
  const keys = /^Unrecognized keys?: (.+)$/.exec(what)?.[1]
  if (keys !== undefined) return `${keys} ${keys.includes(',') ? 'are no fields' : 'is no field'} here`
  const only = /^Invalid input: expected (".*"|\d+|true|false)$/.exec(what)?.[1]
  if (only !== undefined) return `should be ${only}`
  if (/^Too small: expected array/.test(what)) return 'is an empty list and needs at least one'
  if (/^Invalid option: expected one of /.test(what)) return what.replace(/^Invalid option: expected/, 'should be')
  return what
}
