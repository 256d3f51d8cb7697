import { describe, expect, it } from 'vitest'
import { programsOf } from './index'

/** The one script, as the path from the starting folder that would be opened; null when there is none. */
const scriptOf = (command: string): string | null => {
  const { fileOperand, unpinnable } = programsOf(command)
  expect([command, unpinnable]).toEqual([command, null])
  if (fileOperand === null) return null
  const { path, folder } = fileOperand
  return folder === '' ? path : `${folder}/${path}`
}

describe('the programs of a command', () => {
  it.each([
    ['ls -l', ['ls'], null],
    ['A=1 sudo -u bob ls', ['ls'], null],
    ['sh ./x.sh', ['sh'], './x.sh'],
    ['bash /opt/a.sh arg', ['bash'], '/opt/a.sh'],
    ['sudo bash -eu /opt/a.sh', ['bash'], '/opt/a.sh'],
    ['python3 tool.py --x', ['python3'], 'tool.py'],
    ['python3 -m http.server', ['python3'], null],
    ['bash -c ls', ['bash', 'ls'], null],
    ['./run', ['./run'], './run'],
    ['"./my run" a', ['./my run'], './my run'],
    ['ls | grep a; ls', ['ls', 'grep'], null],
    ['$X a', [], null],
    ['nice -n 5 timeout 5 df', ['nice', 'timeout', 'df'], null],
    ['bash a.sh; ls', ['bash', 'ls'], 'a.sh'],
    ['ssh web1 bash x.sh', ['ssh'], null],
    ['', [], null],
  ])('%s', (text, names, script) => {
    expect(programsOf(text).programs).toEqual(names)
    expect(scriptOf(text)).toBe(script)
  })

  it('are pinned with what runs them as somebody else', () => {
    const names = (text: string) => programsOf(text).pins.map(({ name }) => name)
    expect(names('sudo -u bob nice ls')).toEqual(['sudo', 'nice', 'ls'])
    expect(names('sudo sudo ls; ls')).toEqual(['sudo', 'ls'])
    expect(names('~/bin/x; $HOME/bin/y; "~/z"')).toEqual(['~/bin/x', '~/bin/y', './~/z'])
  })
})

describe('the script of an interpreter', () => {
  it.each([
    // Options of each interpreter, and what carries it.
    ['bash x.sh', 'x.sh'],
    ['sh -eu ./x.sh', './x.sh'],
    ['bash -o pipefail +x --norc x.sh -c', 'x.sh'],
    ['bash -- -x.sh', '-x.sh'],
    ['bash -s a b', null],
    ['bash < x.sh', 'x.sh'],
    ['bash <<< ls', null],
    ['bash <(curl x)', null],
    ['bash /dev/stdin', null],
    ['bash --rcfile x.sh -i', 'x.sh'],
    ['python3 -u -W error x.py args -c', 'x.py'],
    ['python3 -Ic "print(1)" x.py', null],
    ['python3.11 -X dev x.py', 'x.py'],
    ['python3 - x', null],
    ['./venv/bin/python x.py', 'x.py'],
    ['node x.js', 'x.js'],
    ['node --enable-source-maps --max-old-space-size=99 -r ./a x.js', 'x.js'],
    ['node -e "1" x.js', null],
    ['node --eval=1', null],
    ['node --import tsx x.ts', 'x.ts'],
    ['perl x.pl', 'x.pl'],
    ['perl -I lib -w x.pl', 'x.pl'],
    ['perl -pi.bak -e s/a/b/ file', null],
    ['perl -lane "print" file', null],
    ['ruby x', 'x'],
    ['ruby -rjson -W0 x.rb', 'x.rb'],
    ['php artisan migrate', 'artisan'],
    ['php -d a=b -f x.php', 'x.php'],
    ['php -r "echo 1;" x', null],
    ['lua -e "a=1" x.lua', 'x.lua'],
    ['deno run -A x.ts', 'x.ts'],
    ['deno task build', null],
    ['bun run build', null],
    ['bun ./x.ts', './x.ts'],
    ['java -cp a -jar x.jar', 'x.jar'],
    ['awk -F: -f x.awk data', 'x.awk'],
    ["awk '{print $1}' data", null],
    ["sed -n 's/a/b/' data", null],
    ['sed -i data -f x.sed', 'x.sed'],
    ['env python3 x.py', 'x.py'],
    ['env -i A=1 python3 x.py', 'x.py'],
    ['sudo bash x.sh', 'x.sh'],
    ['sudo -u bob ./x.sh', './x.sh'],
    ['timeout 5 ./x.sh', './x.sh'],
    ['nice bash x.sh', 'x.sh'],
    ['nohup ./x.sh > /dev/null 2>&1 &', './x.sh'],
    ['source x', 'x'],
    ['. ./x', './x'],
    ["bash -c 'python3 x.py'", 'x.py'],
    ["sudo -u bob sh -c 'nice ./x.sh a'", './x.sh'],
    ['eval "bash x.sh"', 'x.sh'],
    ['xargs -n1 python3 x.py', 'x.py'],
    ['find . -exec ./x.sh {} +', './x.sh'],
    ["find . -name '*.py' -exec sh -c 'echo $1' _ {} +", null],
    ['uv run python x.py', 'x.py'],
    ['uv run x.py', 'x.py'],
    ["bash -euxo pipefail -c 'python3 x.py'", 'x.py'],
    ["bash -euoc pipefail 'python3 x.py'", 'x.py'],
    ['bash -c "$(curl -fsSL https://example.com/x)"', null],
    // What has no script: it stays what its text says.
    ['make -f x.mk all', null],
    ['docker compose -f x.yml up -d', null],
    ['docker exec web bash /x.sh', null],
    ['npm run build', null],
    ['curl -s https://example.com/x | bash', null],
    // Where the command has gone by then.
    ['cd /srv/app && ./x.sh', '/srv/app/./x.sh'],
    ['cd a; cd b && bash x.sh', 'a/b/x.sh'],
    ['cd .. && ./x.sh', '.././x.sh'],
    ['cd ~/a && bash x.sh', '~/a/x.sh'],
    ['cd && bash x.sh', '~//x.sh'],
    ['cd ~ && bash x.sh', '~//x.sh'],
    ['cd "$HOME" && bash x.sh', '~//x.sh'],
    ['cd $HOME/a && bash x.sh', '~/a/x.sh'],
    ['(cd a && ls); bash x.sh', 'x.sh'],
    ['(cd a && bash x.sh)', 'a/x.sh'],
    ['cd a | bash x.sh', 'x.sh'],
    ['cd a & bash x.sh', 'x.sh'],
    ['cd $X && bash /x.sh', '/x.sh'],
    ['bash ~/x.sh', '~/x.sh'],
    ['bash "$HOME/x.sh"', '~/x.sh'],
    ['bash "~/x.sh"', './~/x.sh'],
    ['bash x.sh; bash x.sh', 'x.sh'],
  ])('%s', (command, script) => expect(scriptOf(command)).toBe(script))

  it('comes beside what a shell reads into itself', () => {
    const sourced = (command: string) => {
      const { fileOperand, sourced, unpinnable } = programsOf(command)
      return [fileOperand?.path, sourced.map(({ path }) => path), unpinnable]
    }
    expect(sourced('. /etc/os-release && source a; . b')).toEqual(['/etc/os-release', ['a', 'b'], null])
    expect(sourced('source venv/bin/activate && python3 x.py')).toEqual(['x.py', ['venv/bin/activate'], null])
    expect(sourced('. ./env && ./run')).toEqual(['./env', [], null])
    expect(sourced('. ./env; bash a; bash b')[2]).toContain('more than one script file')
    expect(sourced('source "$X"; bash a')[2]).toContain('only be known')
  })

  it('is looked for on PATH where the program does so', () => {
    expect(programsOf('source x').fileOperand?.searched).toBe(true)
    expect(programsOf('. ./x').fileOperand?.searched).toBe(false)
    expect(programsOf('perl -S x').fileOperand?.searched).toBe(true)
    expect(programsOf('bash x').fileOperand?.searched).toBe(false)
  })

  it.each([
    ['bash *.sh', 'only be known when it runs'],
    ['bash $X', 'only be known when it runs'],
    ['D=/opt; bash $D/x.sh', 'only be known when it runs'],
    ['HOME=/x; bash $HOME/x.sh', 'only be known when it runs'],
    ['python3 $(mktemp)', 'only be known when it runs'],
    ['python3 $OPTS x.py', 'only be known when it runs'],
    ['./{a,b}.sh', 'only be known when it runs'],
    ['$(brew --prefix)/x.sh', 'only be known when it runs'],
    ['HOME=/x; cd ~ && ./x.sh', 'The folder of'],
    ['"$DIR"/x.sh', 'only be known when it runs'],
    ['for f in *.sh; do bash $f; done', 'only be known when it runs'],
    ['bash -c "python3 $F"', 'only be known when it runs'],
    ['bash < $F', 'only be known when it runs'],
    ['bash a.sh; bash b.sh', 'more than one script file ("a.sh" and "b.sh")'],
    ['bash --rcfile a b', 'more than one script file'],
    ["find . -name '*.sh' -exec bash {} \\;", 'decides when it runs'],
    ['find . -exec {} \\;', 'decides when it runs'],
    ['ls | xargs bash', 'decides when it runs'],
    ['ls | xargs -I{} python3 {}', 'decides when it runs'],
    ['parallel bash ::: a b', 'decides when it runs'],
    ['cd $X && bash x.sh', 'The folder of "x.sh" is only known'],
    ['cd a || cd b; bash x.sh', 'The folder of "x.sh" is only known'],
    ['cd a/../b && ./x.sh', 'The folder of "./x.sh" is only known'],
    ['cd - && bash x.sh', 'The folder of "x.sh" is only known'],
    ['{ cd a; }; bash x.sh', 'The folder of "x.sh" is only known'],
    ['pushd a && bash x.sh', 'The folder of "x.sh" is only known'],
    ['sudo -i bash x.sh', 'The folder of "x.sh" is only known'],
    ['env -C /a bash x.sh', 'The folder of "x.sh" is only known'],
    ['find . -execdir ./x.sh {} +', 'The folder of "./x.sh" is only known'],
    ["su bob -c 'bash ~/x.sh'", 'The folder of "~/x.sh" is only known'],
    ['node --made-up 1 x.js', 'Behind the option "--made-up"'],
    ['deno run https://example.com/x.ts', 'is fetched when it runs'],
  ])('%s is refused', (command, why) => {
    const { unpinnable } = programsOf(command)
    expect(unpinnable).toContain(why)
    expect(unpinnable).toMatch(/pinned[^.]*\. [A-Z].*\.$/)
  })
})

describe('a package runner', () => {
  const packages = (command: string) =>
    programsOf(command)
      .pins.filter(({ fromPackage }) => fromPackage !== null)
      .map(({ name, folder, fromPackage }) => [name, folder, fromPackage?.orPath])

  it.each([
    ['npx eslint .', [['eslint', '', false]]],
    ['npx -y --quiet -- eslint --fix .', [['eslint', '', false]]],
    ['npm exec eslint .', [['eslint', '', false]]],
    ['npm exec -- eslint --fix', [['eslint', '', false]]],
    ['npm x eslint', [['eslint', '', false]]],
    ['pnpm exec eslint', [['eslint', '', true]]],
    ['yarn exec eslint', [['eslint', '', true]]],
    ['bunx eslint', [['eslint', '', false]]],
    ['cd app && npx @angular/cli build', [['@angular/cli', 'app', false]]],
    ['sudo timeout 9 npx eslint', [['eslint', '', false]]],
    ['npm install', []],
    ['npm run exec', []],
    ['npm --prefix d run x exec', []],
    ['pnpm build', []],
  ])('%s', (command, expected) => {
    expect(programsOf(command).unpinnable).toBeNull()
    expect(packages(command)).toEqual(expected)
  })

  it('does not hide the script that its program is given', () => {
    expect(scriptOf('npx tsx x.ts')).toBe('x.ts')
    expect(scriptOf('pnpm exec node x.js')).toBe('x.js')
    expect(scriptOf('pnpm exec -- ./x.sh')).toBe('./x.sh')
    expect(programsOf('npx tsx *.ts').unpinnable).toContain('only be known')
  })

  it.each([
    ['npx eslint@8 .', 'names a version'],
    ['npx github:a/b', 'names a version or a place'],
    ['npx ./folder', 'names a version or a place'],
    ['npx -p typescript tsc', 'option "-p"'],
    ["npx -c 'eslint .'", 'option "-c"'],
    ['npm --prefix x exec eslint', 'option "--prefix"'],
    ['pnpm -r exec eslint', 'option "-r"'],
    ['pnpm dlx create-vite', 'fetches what it starts'],
    ['pnpx x', 'fetches what it starts'],
    ['yarn dlx x', 'fetches what it starts'],
    ['uvx ruff', 'fetches what it starts'],
    ['uv tool run ruff', 'fetches what it starts'],
    ['pipx run ruff', 'fetches what it starts'],
    ['npx $X', 'only known when it runs'],
    ['cd $X && npx eslint', 'only known when it runs'],
  ])('%s is refused', (command, why) => {
    const { unpinnable } = programsOf(command)
    expect(unpinnable).toContain(why)
    expect(unpinnable).toMatch(/pinned.*\. [A-Z].*\.$/)
  })
})
