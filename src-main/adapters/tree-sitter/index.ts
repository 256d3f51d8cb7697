import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Node, Parser, Tree } from 'web-tree-sitter'
import type { Log, SecondParser } from '../../ports'

/** Longer texts (UTF-16 units) are not read: they are never run automatically, and bad ones of 16 KB take seconds. */
export const LONGEST_READ = 2048

/**
 * A text that takes longer than this is not understood; milliseconds, on the clock and of the processor. Everyday commands take a hundredth
 * of one. The clock alone would doubt a command because the machine was busy with other things.
 */
const LONGEST_PARSE = 200
/** The clock is only looked at after so many steps: no ordinary command takes more. */
const STEPS_WITHOUT_CLOCK = 8

/** Programs whose commands the grammar gives types of their own; only texts that hold such a word are searched for them. */
const OWN_NODES = /declare|typeset|export|readonly|local|unset|\[/
const OWN_TYPES = ['declaration_command', 'unset_command', 'test_command']

/** Where the two binaries lie: the parser's runtime and the grammar of bash. */
export interface ParserFiles {
  readonly runtime: string
  readonly grammar: string
}

function shippedFiles(): ParserFiles {
  const require = createRequire(import.meta.url)
  return {
    runtime: require.resolve('web-tree-sitter/tree-sitter.wasm'),
    grammar: require.resolve('tree-sitter-bash/tree-sitter-bash.wasm'),
  }
}

/**
 * Loads the grammar when it is first asked to be ready (about 50 ms, most of it outside this thread). The binaries are read by us and
 * handed over, so that they may lie in an archive of Electron.
 */
export function createTreeSitterParser(log: Log, files: () => ParserFiles = shippedFiles): SecondParser {
  let parser: Parser | null = null
  let loading: Promise<void> | null = null

  async function load(): Promise<void> {
    try {
      // Not before it is needed: a start of the app does not wait for it.
      const { Language, Parser } = await import('web-tree-sitter')
      const from = files()
      const [runtime, grammar] = await Promise.all([readFile(from.runtime), readFile(from.grammar)])
      await Parser.init({ wasmBinary: runtime })
      const language = await Language.load(grammar)
      const made = new Parser()
      made.setLanguage(language)
      // The engine compiles what is used first, which nobody shall wait for later.
      made.parse('ls "$(a)" | b > c')?.delete()
      parser = made
    } catch (error) {
      log.error('the second shell parser cannot be loaded; every command is asked about', { error: String(error) })
    }
  }

  return {
    ready() {
      loading ??= load()
      return loading
    },
    commandNames(text) {
      if (parser === null || text.length > LONGEST_READ) return null
      let tree: Tree | null = null
      try {
        const until = performance.now() + LONGEST_PARSE
        const before = process.cpuUsage()
        let steps = 0
        const progressCallback = (): boolean =>
          ++steps > STEPS_WITHOUT_CLOCK && performance.now() > until && spent(before) > LONGEST_PARSE
        tree = parser.parse(text, null, { progressCallback })
        if (tree === null) {
          // It would go on with this text when it is given the next one.
          parser.reset()
          return null
        }
        return tree.rootNode.hasError ? null : namesIn(tree.rootNode, text)
      } catch (error) {
        // After a fault inside the module its memory cannot be trusted any more.
        parser = null
        log.error('the second shell parser failed; every command is asked about', { error: String(error) })
        return null
      } finally {
        tree?.delete()
      }
    },
  }
}

/** Milliseconds of the processor that this process has used since. */
function spent(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

interface Named {
  readonly at: number
  readonly name: string
}

/** Every name a tree holds, in the order of the text. */
function namesIn(root: Node, text: string): readonly string[] {
  const found: Named[] = []
  for (const node of root.descendantsOfType('command_name')) {
    if (node === null) continue
    const name = node.text
    if (name === 'time') found.push(...timed(node))
    else found.push({ at: node.startIndex, name })
  }
  if (!OWN_NODES.test(text)) return found.map(({ name }) => name)
  for (const node of root.descendantsOfType(OWN_TYPES)) {
    if (node === null) continue
    // `[[ … ]]` is syntax, `[ … ]` is a program; the others begin with their name.
    const name = /^(?:\[(?!\[)|[a-z]+)/.exec(node.text)?.[0]
    if (name !== undefined) found.push({ at: node.startIndex, name })
  }
  return found.sort((a, b) => a.at - b.at).map(({ name }) => name)
}

/** `time -p ls`: to bash `time` is a word of the language in front of a command, to this grammar it is the command. */
function timed(name: Node): readonly Named[] {
  const words = name.parent?.childrenForFieldName('argument') ?? []
  const first = words.find((word) => word !== null && word.text !== '-p' && word.text !== '--')
  return first ? [{ at: first.startIndex, name: first.text }] : []
}
