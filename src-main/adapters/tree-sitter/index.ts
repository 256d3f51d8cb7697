import { createRequire } from 'node:module'
import { Language, type Node, Parser } from 'web-tree-sitter'
import type { Log, SecondParser } from '../../ports'

/** Loads the grammar when it is first needed: most starts of the app never ask it. */
export function createTreeSitterParser(log: Log): SecondParser {
  let parser: Parser | null = null
  let loading: Promise<void> | null = null

  async function load(): Promise<void> {
    try {
      const require = createRequire(import.meta.url)
      await Parser.init({ locateFile: () => require.resolve('web-tree-sitter/tree-sitter.wasm') })
      const language = await Language.load(require.resolve('tree-sitter-bash/tree-sitter-bash.wasm'))
      const made = new Parser()
      made.setLanguage(language)
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
      if (parser === null) return null
      const tree = parser.parse(text)
      if (tree === null) return null
      try {
        if (tree.rootNode.hasError) return null
        return namesBelow(tree.rootNode)
      } finally {
        tree.delete()
      }
    },
  }
}

function namesBelow(root: Node): readonly string[] {
  return root.descendantsOfType('command_name').flatMap((node) => (node === null ? [] : [node.text]))
}
