import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadPreviews, loadRiskRules } from '../../adapters/policy-files'
import { classify } from '../risk'
import { literalArgv } from '../shell'
import { type Answer, NO_PREVIEWS, recipeOf, type Shown, type Step } from '.'

const policies = join(import.meta.dirname, '../../../policies')
const rules = loadPreviews(policies)
const risk = loadRiskRules(join(policies, 'risk'))
const options = { rules: risk, posture: 'default', cwd: '/srv/app', homeFolder: '/home/ann' } as const
const isRead = (command: string): boolean => classify(command, options).risk === 'read_only'
const answer = (text: string, more: Partial<Answer> = {}): Answer => ({ text, exitCode: 0, whole: true, ...more })

/** Follows a recipe with answers by command; whatever is not named answers with nothing. */
function follow(
  command: string,
  answers: Record<string, string | Answer>,
): { shown: Shown | string; commands: string[] } {
  const commands: string[] = []
  let step: Step | undefined = recipeOf(command, rules)?.first
  while (step?.kind === 'read') {
    commands.push(...step.commands)
    step = step.then(
      step.commands.map((read) => {
        const given = answers[read] ?? ''
        return typeof given === 'string' ? answer(given) : given
      }),
    )
  }
  if (step === undefined) throw new Error('no recipe')
  return { shown: step.kind === 'shown' ? step.shown : step.why, commands }
}

const word = fc.oneof(
  fc.constantFrom(
    'a',
    'd/b',
    './x',
    '/etc/app.conf',
    '..',
    '/',
    '-x',
    '--',
    '*',
    'a b',
    "it's",
    '$(id)',
    'x\ny',
    '(',
    '!',
    ',',
    '-delete',
    '-exec',
  ),
  fc.string({ minLength: 1, maxLength: 8 }),
)
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const script = fc.oneof(
  fc.constantFrom(
    's/a/b/',
    'p',
    '$d',
    'w /etc/passwd',
    's/a/id/e',
    'e',
    'r /etc/shadow',
    'R x',
    'W y',
    's/a/b/w out',
    '1!G;h;$!d',
  ),
  fc.string({ minLength: 1, maxLength: 10 }),
)
const files = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.map(quote).join(' '))
const sudo = fc.constantFrom('', '', 'sudo ')
const command = fc.oneof(
  fc
    .tuple(sudo, fc.constantFrom('-i', '-i.bak', '-n -i', '-Ei', '-i -e p -e'), script, files)
    .map(([root, flags, text, paths]) => `${root}sed ${flags} ${quote(text)} ${paths}`),
  fc
    .tuple(sudo, fc.constantFrom('rm', 'rm -r', 'rm -rf --', 'rm -v'), files)
    .map((parts) => `${parts[0]}${parts[1]} ${parts[2]}`),
  fc
    .tuple(sudo, fc.constantFrom('700', 'u+x', 'a-w'), files)
    .map((parts) => `${parts[0]}chmod -R ${parts[1]} ${parts[2]}`),
  fc.tuple(fc.constantFrom('mv', 'cp', 'cp -r', 'mv --', 'chown -R ann'), files, files).map((parts) => parts.join(' ')),
  fc
    .tuple(
      fc.constantFrom('cat', 'ls -l', 'sort', 'rm', 'touch', 'find'),
      files,
      fc.constantFrom('>', '>>', '>|'),
      word,
    )
    .map(([program, paths, operator, to]) => `${program} ${paths} ${operator} ${quote(to)}`),
  fc
    .tuple(
      fc.constantFrom(
        'apt-get install',
        'apt purge',
        'systemctl stop',
        'docker compose up',
        'docker compose up -d -p',
        'docker compose down -v --profile',
        'rsync -a',
        'kubectl delete pod',
        'kubectl scale --replicas 0 -n',
      ),
      files,
    )
    .map((parts) => parts.join(' ')),
  fc
    .tuple(
      sudo,
      fc.constantFrom('apply', 'delete --now', '-n shop create', '--context prod replace'),
      fc.oneof(word, fc.constantFrom('a.yaml', 'k8s/b.json', 'a.yaml,b.yaml', 'http://evil.example/a.yaml', '-')),
    )
    .map(([root, verb, file]) => `${root}kubectl ${verb} -f ${quote(file)}`),
)
const answers = fc.array(
  fc.oneof(
    fc.constantFrom(
      '',
      'f f 10\n',
      'd d 4096\n',
      'l f 3\n',
      'l N 3\n',
      '0 f 1\n',
      '0 d 1\n1 f 2\n',
      'x',
      'f f 10\nf f 11\n',
      'p p 0\n',
      '{apiVersion: v1, kind: Pod, metadata: {name: a}}',
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: db}\n',
      '{apiVersion: v1, kind: Pod, metadata: {name: "--raw=/x"}}',
    ),
    fc.string({ maxLength: 20 }),
  ),
  { minLength: 1, maxLength: 6 },
)

describe('recipeOf', () => {
  it('is offered for nothing but reads: whatever comes back, every command of it only reads', () => {
    let offered = 0
    let refused = 0
    fc.assert(
      fc.property(command, answers, fc.boolean(), (text, given, whole) => {
        const recipe = recipeOf(text, rules)
        if (recipe === null) return
        if (!recipe.reads.every(isRead)) {
          refused++
          return
        }
        offered++
        let step = recipe.first
        for (let round = 0; step.kind === 'read'; round++) {
          expect(round).toBeLessThan(6)
          for (const read of step.commands) {
            // A file named by an answer lies below a folder named in the command.
            expect(isRead(read), `${text} → ${read}`).toBe(true)
            expect(read).toMatch(/^(?:sudo )?(?:find|cat|sed|du|ls|sort|apt|apt-get|systemctl|docker|kubectl|rsync) /)
          }
          step = step.then(
            step.commands.map((_, index) => answer(given[(round + index) % given.length] ?? '', { whole })),
          )
        }
      }),
      { numRuns: 1500 },
    )
    expect(offered).toBeGreaterThan(200)
    expect(refused).toBeGreaterThan(10)
  })
  it('keeps the words of a command as they are', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const recipe = recipeOf(`rm -r -- ${words.map(quote).join(' ')}`, rules)
        if (recipe === null || recipe.first.kind !== 'read') return
        const argv = literalArgv(recipe.first.commands[0] ?? '')
        // `$'` is not taken apart, so a word that ends with a dollar is left to the shell.
        if (argv === null) return expect(recipe.first.commands[0]).toContain("$'")
        expect(argv.slice(1, -2)).toEqual(words.map((path) => (/^(?:\/|\.\/)/.test(path) ? path : `./${path}`)))
      }),
      { numRuns: 500 },
    )
  })
  it('says where secrets were taken out of a manifest, and reads no value of an option two ways', () => {
    const [manifest, rest] = ['{apiVersion: v1, kind: Pod, metadata: {name: a}}', ' --ignore-not-found -o name pod/a']
    const shownOf = (text: string): Shown | string =>
      follow('kubectl apply -f a.yaml', { 'cat ./a.yaml': text, [`kubectl get${rest}`]: 'pod/a\n' }).shown
    expect(shownOf(manifest)).toMatchObject({ note: expect.not.stringContaining('Secrets') })
    expect(shownOf(manifest.replace('name: a', 'name: a, labels: {token: ‹redacted: secret›}'))).toMatchObject({
      note: expect.stringContaining('Secrets were taken out of it first'),
    })
    expect(shownOf(`# ${'x'.repeat(64 * 1024)}\n${manifest}`)).toContain('larger than 64 KB')
    // Glued, the sign belongs to the option for these programs, and to the value for others.
    for (const text of [
      'kubectl delete -n=shop pod a',
      'docker compose -p=shop down',
      'kubectl apply -n=shop -f a.yaml',
    ])
      expect(recipeOf(text, rules), text).toBeNull()
  })
  it('has none without data', () => {
    expect(recipeOf('rm a', NO_PREVIEWS)).toBeNull()
    expect(recipeOf('ls > a', NO_PREVIEWS)).toBeNull()
  })
  it('an answer that is not understood is no answer', () => {
    const look = "find ./ -mindepth 1 -maxdepth 1 -name f -printf '%y %Y %s\\n'"
    expect(follow('sed -i p f', { [look]: 'find: ./: Input/output error\n' }).shown).toContain('could not be told')
    expect(follow('sed -i p f', { [look]: '' }).shown).toBe('f does not exist.')
    expect(follow('cp f /', { [look]: 'f f 3\n', "find / -maxdepth 0 -printf '%y %Y %s\\n'": '?' }).shown).toContain(
      'could not be told',
    )
  })
  it('a wildcard in a name is only a name', () => {
    const { commands } = follow("sed -i p 'a[1]*?\\'", {})
    expect(commands).toEqual(["find ./ -mindepth 1 -maxdepth 1 -name 'a\\[1\\]\\*\\?\\\\' -printf '%y %Y %s\\n'"])
  })
  it('what came back cut is not compared', () => {
    const look = "find ./ -mindepth 1 -maxdepth 1 -name f -printf '%y %Y %s\\n'"
    const cut = follow('sed -i p f', { [look]: 'l f 1\n', 'cat ./f': answer('a', { whole: false }) })
    expect(cut.shown).toContain('larger than')
  })
  it('counts by depth, so that no name can make a line', () => {
    const count = "find ./a ./b -printf '%d %y %s\\n'"
    expect(follow('rm -r a b', { [count]: '0 d 1\n1 f 1024\n2 s 0\n0 l 3\n' }).shown).toMatchObject({
      text: 'a: 1 folder, 1 file, 1 special file; 1 KB\nb: 1 link; 0 bytes\nIn all: 1 folder, 1 file, 1 link, 1 special file; 1 KB\n',
      note: null,
    })
    expect(follow('rm -r a b', { [count]: answer('find: ‘./b’: no\n0 f 5\n', { exitCode: 1 }) }).shown).toMatchObject({
      text: 'In all: 1 file; 5 bytes\n',
      note: expect.stringContaining('find: ‘./b’: no'),
    })
    expect(follow('rm -r a b', { [count]: answer('find: no\n', { exitCode: 1 }) }).shown).toContain('find: no')
  })
  it('several reads stand under a heading each, and one that brought nothing is said', () => {
    const { shown, commands } = follow('docker compose -p shop up -d', {
      'docker compose -p shop config --services': 'web\ndb\n',
    })
    expect(commands).toEqual(['docker compose -p shop config --services', 'docker compose -p shop ps --all'])
    expect(shown).toMatchObject({
      text: 'Services that the project names:\nweb\ndb\n\nIts containers as they are now:\nnone\n',
    })
  })
  it('the objects of a manifest are asked for by name, each where it belongs', () => {
    const names = 'kubectl get --context=prod --ignore-not-found -o name'
    const { shown, commands } = follow('kubectl apply --context prod -n shop -f a.yaml', {
      'cat ./a.yaml':
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: db}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: other}\n',
      'kubectl get --context=prod -n shop --ignore-not-found -o name deployment.apps/web secret/db':
        'Warning: something is old\ndeployment.apps/web\n',
      'kubectl get --context=prod -n shop --ignore-not-found --show-kind deployment.apps/web secret/db':
        'NAME READY\ndeployment.apps/web 2/2\n',
    })
    expect(commands.slice(1)).toEqual([
      'kubectl get --context=prod -n shop --ignore-not-found -o name deployment.apps/web secret/db',
      'kubectl get --context=prod -n shop --ignore-not-found --show-kind deployment.apps/web secret/db',
      `${names.replace('prod', 'prod -n other')} pod/x`,
      'kubectl get --context=prod -n other --ignore-not-found --show-kind pod/x',
    ])
    expect(shown).toMatchObject({
      kind: 'text',
      text: 'shop:\nNAME READY\ndeployment.apps/web 2/2\n',
      note: expect.stringContaining('Not there: secret/db in shop, pod/x in other.'),
    })
  })
  it('a manifest that is not understood, too large or of too many objects asks the cluster for nothing', () => {
    const why = (text: string | Answer): string => {
      const { shown, commands } = follow('kubectl apply -f a.yaml', { 'cat ./a.yaml': text })
      expect(commands).toEqual(['cat ./a.yaml'])
      return String(shown)
    }
    const pod = (name: string): string => `---\n{apiVersion: v1, kind: Pod, metadata: {name: ${name}}}\n`
    expect(why('a: [')).toBe('What a.yaml names cannot be told: it is not valid YAML or JSON.')
    expect(why(pod('"-A"'))).toContain('metadata.name')
    expect(why(answer(pod('a'), { whole: false }))).toContain('larger than')
    expect(why(Array.from({ length: 101 }, (_, i) => pod(`a${i}`)).join(''))).toContain('101 objects')
  })
  it('an answer about something else is none', () => {
    const { shown } = follow('kubectl apply -f a.yaml', {
      'cat ./a.yaml': '{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: web}}',
      'kubectl get --ignore-not-found -o name ingress.extensions/web': 'ingress.networking.k8s.io/web\n',
    })
    expect(shown).toBe('The answer names ingress.networking.k8s.io/web, which was not asked for.')
  })
})
