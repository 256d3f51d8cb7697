import type { ProgramPin, ScriptOperand } from '../../../src-preload/contract/model'
import { isInterpreter, scriptsOf } from './interpreters'
import { MAX_WRAPPERS } from './limits'
import { packageRun } from './package-runners'
import { parseShell } from './parse'
import type { SimpleCommand, Word } from './types'
import { programName, suspectedName, unwrap } from './unwrap'

/** What a command starts, as far as its text tells. */
export interface ProgramsOf {
  /** Names of its programs as typed, those behind local wrappers (`nice`, `timeout`) as well; `sudo` is left out. */
  readonly programs: readonly string[]
  /** All of them once more, `sudo` too, with where each is to be looked for. */
  readonly pins: readonly ProgramPin[]
  /** The script an interpreter is given, or the program itself where the command is a single path. */
  readonly fileOperand: ScriptOperand | null
  /** Further files that a shell reads into itself (`. ./env.sh && python3 x.py`). */
  readonly sourced: readonly ScriptOperand[]
  /** Why a file that would be executed cannot be named, as a sentence with the remedy; null when every one can. */
  readonly unpinnable: string | null
}

/** `sudo` and its kind are not what runs. */
const AS_ANOTHER = /^(?:sudo|sudo-rs|doas)$/
/** Wrappers behind which the working folder, or the files in it, may be others. */
const ELSEWHERE = /^(?:systemd-run|run0|pkexec|bwrap|firejail|proot|machinectl|su|runuser|git)$/
/** Wrappers that give words of their own to what they start. */
const FEEDING = /^(?:xargs|parallel|find|gfind|fd|fdfind|entr)$/
/** Options by which a wrapper goes to another folder before it starts anything. */
const GOES: readonly (readonly [RegExp, RegExp])[] = [
  [AS_ANOTHER, /^(?:-[A-Za-z]*[iD].*|--login|--chdir.*)$/],
  [/^env$/, /^(?:-[A-Za-z0]*C.*|--chdir.*)$/],
  [/^unshare$/, /^(?:-[wR].*|--wd.*|--root.*)$/],
  [/^(?:find|gfind)$/, /^-(?:execdir|okdir)$/],
  [/^(?:fd|fdfind)$/, /^(?:-C.*|--base-directory.*)$/],
]
/** Not files, or the input under another name. */
const NO_FILE = /^-$|^\/dev\/(?:null|stdin|fd\/\d+)$|^\/proc\/self\/fd\/\d+$/

interface Where {
  /** From the starting folder; null when it is not known. */
  readonly folder: string | null
  readonly fed: string | null
  readonly depth: number
}

/**
 * What a command executes, in order, for the gate to pin. Words are taken as the shell would hand them over; what is only known when it
 * runs is never guessed: a program name is left out then, a script file makes the whole `unpinnable`. What is carried to another
 * machine is not looked at.
 */
export function programsOf(command: string): ProgramsOf {
  const walk = new Walk()
  walk.script(command, { folder: '', fed: null, depth: 0 })
  return walk.result()
}

class Walk {
  readonly #programs: string[] = []
  readonly #pins: ProgramPin[] = []
  /** Scripts of interpreters. */
  readonly #scripts: ScriptOperand[] = []
  /** What `source` reads. */
  readonly #sourced: ScriptOperand[] = []
  /** Programs called by a path. */
  readonly #paths: ScriptOperand[] = []
  #refusal: string | null = null
  #ownHome = true

  result(): ProgramsOf {
    const [script, second] = this.#scripts
    if (second !== undefined && script !== undefined)
      this.#refuse(
        `The command executes more than one script file ("${script.typed}" and "${second.typed}"), and one is all that can be pinned. Ask for them one by one.`,
      )
    const [path] = this.#paths
    const [first, ...others] = this.#sourced
    const alone = script === undefined && first !== undefined
    return {
      programs: this.#programs,
      pins: this.#pins,
      fileOperand: script ?? first ?? (this.#paths.length === 1 && path !== undefined ? path : null),
      sourced: alone ? others : this.#sourced,
      unpinnable: this.#refusal,
    }
  }

  #refuse(why: string): void {
    this.#refusal ??= why
  }

  script(text: string, where: Where): void {
    if (where.depth > MAX_WRAPPERS) return
    const parsed = parseShell(text)
    let top = where.folder
    let inner: string | null | undefined
    let last: SimpleCommand | null = null
    for (const command of parsed.commands) {
      if (command.assignments.some(({ name }) => name === 'HOME' || name === 'PWD')) this.#ownHome = false
      const { enclosures, background } = command.place
      const between = last === null ? '' : text.slice(last.end, command.start)
      const subshell = enclosures.length === 1 && enclosures[0] === 'subshell'
      if (!subshell || between.includes(')')) inner = undefined
      const folder = subshell && inner !== undefined ? inner : top
      if (/^(?:cd|pushd|popd)$/.test(command.words[0]?.value ?? '')) {
        const alone = !background && !parsed.commands.some((other) => other !== command && sameLine(other, command))
        const clear = enclosures.length === 0 || subshell
        const to = clear && !between.includes('||') ? wentTo(folder, command.words) : null
        const next = to?.startsWith('~') && !this.#ownHome ? null : to
        if (subshell) inner = alone ? next : folder
        else if (alone || !clear) top = next
        last = command
        continue
      }
      this.#invoke(command, command.words, { ...where, folder })
      last = command
    }
  }

  #invoke(command: SimpleCommand, words: readonly Word[], where: Where): void {
    const head = words[0]
    if (head === undefined || where.depth > MAX_WRAPPERS) return
    const name = suspectedName(head)
    const run = packageRun(name, words)
    if (AS_ANOTHER.test(programName(head)))
      this.#pin({ typed: head.shape, name: head.shape, folder: '', fromPackage: null })
    else this.#program(head, where)
    if (run !== null) {
      this.#package(command, run.words, run, where)
      return
    }
    this.#scriptsIn(command, name, words, where)
    this.#carried(command, name, words, where)
  }

  /** Looks behind wrappers; what runs on another machine has no file here. */
  #carried(command: SimpleCommand, name: string, words: readonly Word[], where: Where): void {
    const unwrapped = unwrap(words)
    if (unwrapped === null || unwrapped.remote) return
    const first = unwrapped.carried[0]
    const inner = first?.kind === 'words' && !FEEDING.test(name) ? words.indexOf(first.words[0] as Word) : -1
    const own = words.slice(1, inner < 0 ? undefined : inner)
    const goes = GOES.some(([who, option]) => who.test(name) && own.some(({ shape }) => option.test(shape)))
    const next: Where = {
      folder: goes || ELSEWHERE.test(name) ? null : where.folder,
      fed: FEEDING.test(name) ? name : where.fed,
      depth: where.depth + 1,
    }
    for (const carried of unwrapped.carried) {
      const head = carried.kind === 'words' ? carried.words[0] : undefined
      // `uv run x.py` is python with a script.
      if (name === 'uv' && head?.value?.endsWith('.py')) this.#operand(head, false, next)
      else if (carried.kind === 'words') this.#invoke(command, carried.words, next)
      else this.script(carried.text, next)
    }
  }

  #program(head: Word, where: Where): void {
    const { value, shape } = head
    const path = this.#concrete(head)
    if (where.fed !== null && shape.includes('{}')) {
      this.#refuse(
        `"${where.fed}" decides when it runs which program it starts, so it cannot be pinned. Name the program itself.`,
      )
      return
    }
    if (path === null) {
      // What a substitution says as a whole is text to the shell, and no file that could be looked for.
      if (shape.includes('/') && !/^(?:[<>$]\([\s\S]*\)|`[^`]*`)$/.test(shape)) this.#dynamic(shape)
      return
    }
    if (path === '') return
    const slash = path.includes('/')
    const typed = value ?? shape
    if (!this.#programs.includes(typed)) this.#programs.push(typed)
    if (!slash) {
      this.#pin({ typed, name: path, folder: '', fromPackage: null })
      return
    }
    const folder = this.#folderFor(path, typed, where)
    if (folder === null) return
    this.#pin({ typed, name: path, folder, fromPackage: null })
    const name = suspectedName(head)
    if (isInterpreter(name) || unwrap([head]) !== null) return
    if (!this.#paths.some((known) => known.path === path && known.folder === folder))
      this.#paths.push({ typed, path, folder, searched: false })
  }

  #package(
    command: SimpleCommand,
    words: readonly Word[],
    run: { readonly runner: string; readonly orPath: boolean; readonly refusal: string | null },
    where: Where,
  ): void {
    const head = words[0]
    if (run.refusal !== null) {
      this.#refuse(run.refusal)
      return
    }
    const name = head?.value
    if (head === undefined || name === null || name === undefined) return
    if (where.folder === null) {
      this.#refuse(
        `The folder that "${run.runner}" looks in for "${name}" is only known when it runs, so it cannot be pinned. Give the working folder with the request instead.`,
      )
      return
    }
    if (name.includes('/') && !name.startsWith('@')) {
      this.#invoke(command, words, { ...where, depth: where.depth + 1 })
      return
    }
    const { runner, orPath } = run
    this.#pin({ typed: name, name, folder: where.folder, fromPackage: { runner, orPath } })
    this.#scriptsIn(command, suspectedName(head), words, where)
    this.#carried(command, suspectedName(head), words, where)
  }

  #scriptsIn(command: SimpleCommand, name: string, words: readonly Word[], where: Where): void {
    for (const operand of scriptsOf(name, words) ?? []) {
      switch (operand.kind) {
        case 'file':
          if (where.fed === 'parallel' || (where.fed !== null && operand.word.shape.includes('{}')))
            this.#given(name, where.fed)
          else this.#operand(operand.word, operand.searched, where, name === 'source' || name === '.')
          break
        case 'stdin':
          if (where.fed !== null) this.#given(name, where.fed)
          for (const { operator, target } of command.redirections)
            if (operator === '<' && target !== null) this.#operand(target, false, where)
          break
        case 'unclear':
          this.#refuse(
            `Behind the option "${operand.option}" it is not clear which word is the script of "${name}", so it cannot be pinned. Leave the option out, or write it as --option=value.`,
          )
          break
        case 'inline':
        case 'none':
          break
      }
    }
  }

  #given(name: string, by: string): void {
    this.#refuse(
      `"${by}" decides when it runs which script "${name}" gets, so it cannot be pinned. Ask for each script by itself.`,
    )
  }

  #operand(word: Word, searched: boolean, where: Where, sourced = false): void {
    // `bash <(…)`: what comes out of a command that stands in the text.
    if (/^[<>]\(/.test(word.shape)) return
    const path = this.#concrete(word)
    if (path === null) {
      this.#dynamic(word.shape)
      return
    }
    if (path === '' || NO_FILE.test(path)) return
    const typed = word.value ?? word.shape
    if (/^(?:https?|npm|jsr|data|node):/.test(path)) {
      this.#refuse(
        `"${typed}" is fetched when it runs, so it cannot be pinned. Save it to a file, look at it and run that.`,
      )
      return
    }
    const folder = this.#folderFor(path, typed, where)
    if (folder === null) return
    const list = sourced ? this.#sourced : this.#scripts
    if (!list.some((known) => known.path === path && known.folder === folder))
      list.push({ typed, path, folder, searched: searched && !path.includes('/') })
  }

  #folderFor(path: string, typed: string, where: Where): string | null {
    // Behind `su` the home folder is somebody else's.
    if (path.startsWith('/') || (path.startsWith('~') && where.folder !== null)) return ''
    if (where.folder === null)
      this.#refuse(
        `The folder of "${typed}" is only known when it runs, so the file cannot be pinned. Write its path from the root, or give the working folder with the request.`,
      )
    return where.folder
  }

  #dynamic(shape: string): void {
    this.#refuse(
      `Which file "${shape}" is will only be known when it runs, so it cannot be pinned. Write the path of one file as it is.`,
    )
  }

  /** The path a word stands for: literal, or in the home folder; null when only the run knows. A literal `~` is a name like any other. */
  #concrete({ value, shape, dynamic }: Word): string | null {
    if (value !== null) return value.startsWith('~') ? `./${value}` : value
    if (dynamic.join() !== 'tilde' || !this.#ownHome) return null
    const inHome = /^(?:~|\$HOME|\$\{HOME\})\/([^$`*?[\]{}]+)$/.exec(shape)
    return inHome === null ? null : `~/${inHome[1]}`
  }

  #pin(pin: ProgramPin): void {
    const same = (known: ProgramPin): boolean =>
      known.name === pin.name && known.folder === pin.folder && known.fromPackage?.runner === pin.fromPackage?.runner
    if (!this.#pins.some(same)) this.#pins.push(pin)
  }
}

const sameLine = (a: SimpleCommand, b: SimpleCommand): boolean =>
  a.place.pipeline === b.place.pipeline && a.place.enclosures.length === b.place.enclosures.length

/** The folder after a `cd`; null when it is not one literal word, or leads through a link that `..` may undo. */
function wentTo(from: string | null, words: readonly Word[]): string | null {
  if (words[0]?.value !== 'cd') return null
  const operands = words.slice(words[1]?.value === '--' ? 2 : 1)
  const to = operands[0]
  if (to === undefined) return '~/'
  if (operands.length > 1) return null
  const home = to.dynamic.join() === 'tilde' ? /^(?:~|\$HOME|\$\{HOME\})(?:\/([^$`*?[\]{}]*))?$/.exec(to.shape) : null
  const text = to.value ?? (home === null ? null : `~/${home[1] ?? ''}`)
  if (text === null || text === '' || text.startsWith('-') || (to.value?.startsWith('~') ?? false)) return null
  const whole = /^[/~]/.test(text) ? text : from === null ? null : from === '' ? text : `${from}/${text}`
  return whole === null || /(?:^|\/)(?!\.\.?(?:\/|$))[^/]+\/(?:.*\/)?\.\.(?:\/|$)/.test(whole) ? null : whole
}
