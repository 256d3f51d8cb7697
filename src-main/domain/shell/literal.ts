import { decodeEscapes } from './scan'
import type { SimpleCommand, Word } from './types'

/** What `echo` or `printf` would print for literal words; null when that cannot be told. */
function printed(words: readonly Word[]): string | null {
  const name = words[0]?.shape
  let rest = words.slice(1)
  if (name === 'echo') {
    let escapes = false
    while (rest[0] && /^-[neE]+$/.test(rest[0].shape)) {
      if (rest[0].shape.includes('e')) escapes = true
      rest = rest.slice(1)
    }
    const text = rest.map((word) => word.shape).join(' ')
    return escapes ? decodeEscapes(text) : text
  }
  if (name === 'printf') {
    if (rest[0]?.shape === '--') rest = rest.slice(1)
    const format = rest[0]
    if (!format) return null
    const values = rest.slice(1).map((word) => word.shape)
    let out = ''
    const one = (): void => {
      out += decodeEscapes(format.shape).replace(/%%|%[-+ #0-9.]*([a-zA-Z])/g, (whole, letter?: string) => {
        if (letter === undefined) return '%'
        const value = values.shift() ?? ''
        return letter === 'b'
          ? decodeEscapes(value)
          : letter === 'c'
            ? value.slice(0, 1)
            : /[sdiq]/.test(letter)
              ? value
              : whole
      })
    }
    // The format is used again as long as there are arguments; it must consume some each time.
    do {
      const before = values.length
      one()
      if (values.length === before) break
    } while (values.length > 0)
    return out
  }
  return null
}

function decodeBase64(text: string): string | null {
  const clean = text.replace(/\s+/g, '')
  if (clean === '' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(clean)) return null
  try {
    const binary = atob(clean.replace(/-/g, '+').replace(/_/g, '/'))
    return decodeURIComponent(escapeBytes(binary))
  } catch {
    return null
  }
}

function escapeBytes(binary: string): string {
  let out = ''
  for (let i = 0; i < binary.length; i++) out += `%${binary.charCodeAt(i).toString(16).padStart(2, '0')}`
  return out
}

function decodeHex(text: string): string | null {
  const clean = text.replace(/\s+/g, '').replace(/^0x/, '')
  if (clean === '' || clean.length % 2 !== 0 || !/^[0-9a-fA-F]+$/.test(clean)) return null
  let out = ''
  for (let i = 0; i < clean.length; i += 2) out += String.fromCharCode(Number.parseInt(clean.slice(i, i + 2), 16))
  return out
}

/** One stage of a pipeline applied to a known text. */
function through(words: readonly Word[], text: string): string | null {
  const name = words[0]?.shape.replace(/^.*\//, '')
  const options = words.slice(1).map((word) => word.shape)
  if (name === 'cat' || name === 'tee')
    return options.every((option) => option.startsWith('-') || name === 'tee') ? text : null
  if (name === 'base64' || name === 'openssl')
    return options.some((o) => /^(?:-[a-z]*[dD]|--d(?:ecode)?|--de[a-z]*)$/.test(o)) ? decodeBase64(text) : null
  if (name === 'xxd') return options.some((o) => /^-[a-z]*r/.test(o)) ? decodeHex(text) : null
  if (name === 'rev')
    return text
      .split('\n')
      .map((line) => [...line].reverse().join(''))
      .join('\n')
  if (name === 'tr') {
    const [from, to] = options
    if (from === '-d' && to !== undefined) return [...text].filter((c) => !to.includes(c)).join('')
    if (/^(?:A-Za-z|a-zA-Z)$/.test(from ?? '') && /^(?:N-ZA-Mn-za-m|n-za-mN-ZA-M)$/.test(to ?? ''))
      return text.replace(/[A-Za-z]/g, (c) => {
        const base = c <= 'Z' ? 65 : 97
        return String.fromCharCode(((c.charCodeAt(0) - base + 13) % 26) + base)
      })
    return null
  }
  return null
}

/** What one stage of a pipeline prints, given what it reads; null when literal text alone does not decide it. */
export function stageOutput(command: SimpleCommand, read: string | null): string | null {
  const own = printed(command.words)
  if (own !== null) return own
  let text = read
  for (const redirection of command.redirections)
    if (redirection.body !== null) text = redirection.body
    else if (redirection.operator === '<<<') text = redirection.target?.shape ?? null
  return text === null ? null : through(command.words, text)
}
