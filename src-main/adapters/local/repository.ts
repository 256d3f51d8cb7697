import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'

/**
 * Settings a repository may hold without naming anything that git would start. Everything else (`filter.*`, `diff.*.textconv`,
 * `core.sshCommand`, `alias.*`, includes, whatever git learns next) makes a read in it more than a read: a clean filter runs at
 * `git status`, a textconv at `git diff`.
 */
const HARMLESS: readonly RegExp[] = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|sharedrepository|untrackedcache|quotepath|whitespace|abbrev|commentchar|checkstat|trustctime|splitindex|preloadindex|compression|longpaths|protecthfs|protectntfs|sparsecheckout|sparsecheckoutcone|worktree)$/,
  /^remote\..*\.(url|pushurl|fetch|push|prune|prunetags|tagopt|mirror|skipdefaultupdate|partialclonefilter|promisor)$/,
  /^branch\..*\.(remote|merge|rebase|pushremote|description|mergeoptions)$/,
  /^submodule\.(.*\.)?(url|active|branch|ignore|fetchrecursesubmodules|recurse)$/,
  /^user\.(name|email|signingkey)$/,
  /^extensions\.(worktreeconfig|objectformat|refstorage|partialclone|compatobjectformat)$/,
  /^(pull|push|fetch|rebase|init|color|advice|status|log|gc|pack|index|receive|transfer|branch|tag|column|blame|maintenance|feature|versionsort|checkout|rerere)\.[a-z.]+$/,
  /^(commit|tag)\.(gpgsign|verbose|status|cleanup)$/,
  /^merge\.(conflictstyle|ff|renames|renamelimit|log|stat)$/,
  /^diff\.(renames|renamelimit|algorithm|context|mnemonicprefix|noprefix|colormoved|submodule|wordregex|statgraphwidth)$/,
  /^lfs\.(repositoryformatversion|url|https?:.*|locksverify|fetchexclude|fetchinclude)$/,
]
/** These are in the list above by their section and name a program all the same. */
const PROGRAMS = /^(color\.pager|receive\.procreceiverefs|gc\..*command|pack\..*hook|log\.mailmap)$/

const MOST_MODULES = 200
const MOST_BYTES = 256 * 1024

/** Names the settings of one config file that are not known to be harmless. A line that cannot be read counts as one. */
export function strangeSettings(text: string): readonly string[] {
  const found: string[] = []
  let section = ''
  // A value goes on in the next line behind a backslash; only names matter here.
  for (const raw of text.replace(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    let line = raw.trim()
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue
    const head = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line)
    if (head !== null) {
      section = (head[2] === undefined ? (head[1] ?? '') : `${head[1]}.${head[2]}`).toLowerCase()
      line = line.slice(head[0].length).trim()
      if (line === '' || line.startsWith('#') || line.startsWith(';')) continue
    }
    const name = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=|$)/.exec(line)?.[1]?.toLowerCase()
    const key = name === undefined ? `${section}.?` : `${section}.${name}`
    if (name === undefined || PROGRAMS.test(key) || !HARMLESS.some((pattern) => pattern.test(key))) found.push(key)
  }
  return found
}

async function text(path: string): Promise<string | null> {
  try {
    if ((await stat(path)).size > MOST_BYTES) return '[too] large'
    return await readFile(path, 'utf8')
  } catch (error) {
    // A config that is there and cannot be read is not known to be harmless.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ENOTDIR'
      ? null
      : '[un] readable'
  }
}

/** The git folder of the work tree that `cwd` is in; null outside of any. A bare repository is its own. */
async function gitFolder(cwd: string): Promise<string | null> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const dot = join(folder, '.git')
    const found = await stat(dot).catch(() => null)
    if (found?.isDirectory()) return dot
    if (found?.isFile()) {
      const to = /^gitdir:\s*(.+?)\s*$/m.exec((await text(dot)) ?? '')?.[1]
      return to === undefined ? dot : isAbsolute(to) ? to : resolve(folder, to)
    }
    if (
      (await text(join(folder, 'HEAD')))?.startsWith('ref:') &&
      (await stat(join(folder, 'objects')).catch(() => null))
    )
      return folder
    if (folder === dirname(folder)) return null
  }
}

/** All config files that git would read of a repository: its own, that of a linked work tree, those of its submodules. */
async function configs(folder: string): Promise<readonly string[] | null> {
  const files = [join(folder, 'config'), join(folder, 'config.worktree')]
  const common = (await text(join(folder, 'commondir')))?.trim()
  const base = common ? resolve(folder, common) : folder
  if (base !== folder) files.push(join(base, 'config'), join(base, 'config.worktree'))
  const open = [join(base, 'modules')]
  for (let at = 0; at < open.length; at++) {
    const inside = await readdir(open[at] ?? '', { withFileTypes: true }).catch(() => [])
    for (const entry of inside) {
      if (open.length + files.length > MOST_MODULES) return null
      const path = join(open[at] ?? '', entry.name)
      if (entry.isFile() && (entry.name === 'config' || entry.name === 'config.worktree')) files.push(path)
      else if (entry.isDirectory() && !['objects', 'refs', 'logs', 'hooks', 'info'].includes(entry.name))
        open.push(path)
    }
  }
  return files
}

/** Why a plain git read in `cwd` would be more than one; null when it would not. */
export async function repositoryFinding(cwd: string): Promise<string | null> {
  const folder = await gitFolder(cwd)
  if (folder === null) return null
  const files = await configs(folder)
  if (files === null) return 'The repository has too many submodules to look at the settings of each.'
  for (const file of files) {
    const strange = strangeSettings((await text(file)) ?? '')[0]
    if (strange !== undefined)
      return `The settings of this repository hold "${strange}", by which git may start a program.`
  }
  return null
}
