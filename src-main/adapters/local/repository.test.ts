import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { repositoryFinding, strangeSettings } from './repository'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nomos-repository-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const git = (...args: string[]) =>
  spawnSync(
    'git',
    ['-c', 'user.name=T', '-c', 'user.email=t@example.org', '-c', 'protocol.file.allow=always', ...args],
    { cwd: folder, encoding: 'utf8' },
  )

describe('the settings of a repository', () => {
  it('as git makes them are harmless, with a remote, branches and a submodule', async () => {
    expect(await repositoryFinding(folder)).toBeNull()
    git('init', '-q', '-b', 'main', '.')
    writeFileSync(join(folder, 'a'), 'a\n')
    git('add', 'a')
    git('commit', '-qm', 'one')
    git('clone', '-q', '.', 'copy')
    git('submodule', 'add', '-q', join(folder, 'copy'), 'sub')
    git('remote', 'add', 'origin', 'https://example.org/a.git')
    git('branch', '-q', 'other')
    git('config', 'branch.other.remote', 'origin')
    mkdirSync(join(folder, 'deep', 'er'), { recursive: true })
    for (const at of [folder, join(folder, 'deep', 'er'), join(folder, 'sub'), join(folder, 'copy')])
      expect([at, await repositoryFinding(at)]).toEqual([at, null])
  })

  it.each([
    ['diff.x.textconv', './run'],
    ['diff.external', './run'],
    ['filter.x.clean', './run'],
    ['core.fsmonitor', './run'],
    ['core.sshCommand', './run'],
    ['core.pager', './run'],
    ['core.hooksPath', 'hooks'],
    ['alias.lg', '!./run'],
    ['include.path', '../other'],
    ['includeIf.gitdir:/x/.path', '../other'],
    ['credential.helper', './run'],
    ['remote.origin.uploadpack', './run'],
    ['gpg.program', './run'],
    ['unheard.of', 'x'],
  ])('with %s are not', async (key, value) => {
    git('init', '-q', '.')
    git('config', key, value)
    expect(await repositoryFinding(folder)).toContain(key.toLowerCase().split('.')[0])
  })

  it('are looked at in submodules and linked work trees too', async () => {
    git('init', '-q', '-b', 'main', '.')
    writeFileSync(join(folder, 'a'), 'a\n')
    git('add', 'a')
    git('commit', '-qm', 'one')
    git('worktree', 'add', '-q', 'linked', '-b', 'side')
    expect(await repositoryFinding(join(folder, 'linked'))).toBeNull()
    git('config', 'filter.x.clean', './run')
    expect(await repositoryFinding(join(folder, 'linked'))).toContain('filter.x.clean')
    git('config', '--unset', 'filter.x.clean')
    mkdirSync(join(folder, '.git', 'modules', 'deep', 'sub'), { recursive: true })
    writeFileSync(join(folder, '.git', 'modules', 'deep', 'sub', 'config'), '[filter "y"]\n\tsmudge = ./run\n')
    expect(await repositoryFinding(folder)).toContain('filter.y.smudge')
  })

  it('really have that effect: the filter runs at a mere status', async () => {
    git('init', '-q', '.')
    writeFileSync(join(folder, '.gitattributes'), '*.txt filter=x\n')
    writeFileSync(join(folder, 'a.txt'), 'a\n')
    git('add', '.')
    appendFileSync(join(folder, 'a.txt'), 'b\n')
    writeFileSync(join(folder, 'a.txt'), 'x\n')
    git('config', 'filter.x.clean', 'touch ran; cat')
    git('diff')
    expect(existsSync(join(folder, 'ran'))).toBe(true)
  })

  it('are read however they are written', () => {
    expect(strangeSettings('[core]\n\tbare = false\n; note\n# note\n[remote "origin"]\n\turl = x\n')).toEqual([])
    expect(strangeSettings('[FILTER "a b"] clean = x')).toEqual(['filter.a b.clean'])
    expect(strangeSettings('[alias]x=!y')).toEqual(['alias.x'])
    expect(strangeSettings('[core]\n\tbare = a \\\n\tfsmonitor = x\n\tpager=y')).toEqual(['core.pager'])
    expect(strangeSettings('[core\n=x')).toHaveLength(2)
    expect(strangeSettings('[diff.x]\ntextconv=y')).toEqual(['diff.x.textconv'])
  })
})
