import { readFile, realpath, stat } from 'node:fs/promises'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { NomosError } from '../../../src-preload/contract/errors'
import type { FileIdentity, ProgramPin, ScriptOperand } from '../../../src-preload/contract/model'
import { fileIdentity, firstLine, NotAFile, resolveProgram, withoutDots } from './identity'

/** Where names lead from at this place and moment. */
export interface Lookup {
  /** Real path of the working folder. */
  readonly cwd: string
  readonly home: string
  /** PATH of the run. */
  readonly search: string
  /** No shell is there to know builtins. */
  readonly asFile: boolean
}

/** The path a name leads to. */
export function placeOf({ cwd, home }: Lookup, folder: string, name: string): string {
  const from = (base: string, path: string): string =>
    path.startsWith('/')
      ? path
      : path.startsWith('~/')
        ? `${home}/${path.slice(2)}`
        : path === ''
          ? base
          : `${base}/${path}`
  return withoutDots(from(from(cwd, folder), name))
}

const refused = (sentence: string): NomosError => new NomosError('bad_input', sentence, { field: 'command' })

function unreadable(what: string, typed: string, path: string, error: unknown): NomosError {
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof NotAFile)
    return refused(
      `The ${what} "${typed}" is not a plain file (${path}), so it cannot be pinned. Name the file that is to be run.`,
    )
  return code === 'ENOENT' || code === 'ENOTDIR'
    ? refused(
        `The ${what} "${typed}" is not there (${path}), so it cannot be pinned. Check the path; if an earlier part of the command makes it, ask for that part first.`,
      )
    : refused(
        `The ${what} "${typed}" cannot be read at ${path} (${code ?? String(error)}), so it cannot be pinned. Check its rights.`,
      )
}

/** Pins every program file that can be found, in order. A path that leads nowhere and a package that is not installed are refused. */
export async function pinPrograms(pins: readonly ProgramPin[], at: Lookup): Promise<readonly FileIdentity[]> {
  const found: FileIdentity[] = []
  const add = (one: FileIdentity): void => {
    if (!found.some((known) => known.found === one.found && known.path === one.path)) found.push(one)
  }
  for (const identities of await Promise.all(pins.map((pin) => pinProgram(pin, at))))
    for (const one of identities) add(one)
  return found
}

async function pinProgram(pin: ProgramPin, at: Lookup): Promise<readonly FileIdentity[]> {
  const path = await programFile(pin, at)
  if (path === null) return []
  let identity: FileIdentity
  try {
    identity = await fileIdentity(pin.typed, path, false)
  } catch (error) {
    throw unreadable('program', pin.typed, path, error)
  }
  return [identity, ...(await interpreterOf(identity, at))]
}

async function programFile(pin: ProgramPin, at: Lookup): Promise<string | null> {
  const { name, folder, fromPackage, typed } = pin
  if (fromPackage !== null) {
    const bin = await packageBin(name, placeOf(at, folder, ''))
    if (bin !== null) return bin
    if (!fromPackage.orPath)
      throw refused(
        `"${typed}" is not installed around ${placeOf(at, folder, '')}, so "${fromPackage.runner}" would fetch it, and what is not there yet cannot be pinned. Install it first, then ask again.`,
      )
  } else if (name.includes('/')) return placeOf(at, folder, name)
  return (await resolveProgram(name, '/', at.search, at.asFile)).path
}

/** What the first line of a script of somebody's own names: `#!/usr/bin/env python3` starts the python3 of PATH. */
async function interpreterOf(identity: FileIdentity, at: Lookup): Promise<readonly FileIdentity[]> {
  if (identity.sha256 === null) return []
  const line = await firstLine(identity.realpath)
  const words = line?.startsWith('#!') ? line.slice(2).trim().split(/\s+/) : []
  const [program] = words
  if (program === undefined || !isAbsolute(program)) return []
  const named = basename(program) === 'env' ? words.slice(1).find((word) => !/^-|=/.test(word)) : undefined
  const paths = [program]
  if (named !== undefined && !named.includes('/')) {
    const { path } = await resolveProgram(named, '/', at.search, true)
    if (path !== null) paths.push(path)
  }
  // One that is not there cannot start anything either.
  const pinned = await Promise.all(paths.map((path) => fileIdentity(path, path, false).catch(() => null)))
  return pinned.filter((one) => one !== null)
}

/** The file that a package runner would start for a name: that of the nearest folder upwards that has it installed. */
async function packageBin(name: string, from: string): Promise<string | null> {
  // The runner goes upwards from where it really is.
  let folder: string
  try {
    folder = await realpath(from)
  } catch {
    return null
  }
  for (; ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules')
    const bin = join(modules, '.bin', name)
    if (await isFile(bin)) return bin
    const own = await manifestBin(join(modules, name), name)
    if (own !== null) return own
    if (folder === dirname(folder)) return null
  }
}

const isFile = async (path: string): Promise<boolean> => (await stat(path).catch(() => null))?.isFile() === true

/** The one program of a package that is called by the package's name (`npx @angular/cli` starts its `ng`). */
async function manifestBin(folder: string, name: string): Promise<string | null> {
  let manifest: unknown
  try {
    manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  } catch {
    return null
  }
  const bin = (manifest as { readonly bin?: unknown } | null)?.bin
  const plain = name.slice(name.indexOf('/') + 1)
  const bins: Readonly<Record<string, unknown>> =
    typeof bin === 'string' ? { [plain]: bin } : typeof bin === 'object' && bin !== null ? { ...bin } : {}
  const [only, ...others] = Object.values(bins)
  const file = others.length === 0 ? only : bins[plain]
  return typeof file === 'string' ? `${folder}/${file}` : null
}

/** Pins the script of an interpreter by its content. */
export async function pinScript(operand: ScriptOperand, at: Lookup): Promise<FileIdentity> {
  const { typed, path: name, folder, searched } = operand
  let path = placeOf(at, folder, name)
  if (searched) {
    for (const place of at.search.split(delimiter)) {
      if (!isAbsolute(place) || !(await isFile(`${place}/${name}`))) continue
      path = `${place}/${name}`
      break
    }
  }
  try {
    return await fileIdentity(typed, path, true)
  } catch (error) {
    throw unreadable('script file', typed, path, error)
  }
}
