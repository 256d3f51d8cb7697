import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadRiskRules } from '../../adapters/policy-files'
import { classify } from './index'

const rules = loadRiskRules(join(import.meta.dirname, '../../../policies/risk'))
/** The way the app asks: Nomos's folder lies below the home folder, which is where most commands run. */
const at = (command: string, cwd: string | null = null) =>
  classify(command, {
    rules,
    posture: 'every-segment',
    cwd,
    homeFolder: '/home/ann',
    nomosHome: '/home/ann/.local/share/nomos',
  })

describe('scripts of mini-languages', () => {
  it.each([
    `awk '{print $1}' a.log`,
    `awk '{print $1, $2}' a.log`,
    `awk '{gsub("a", "b"); print}' a.log`,
    `awk -F: 'NR > 1 {print $1}' /etc/passwd`,
    `df -h | awk 'NR > 1 {print $5}' | tr -d %`,
    `ps aux | awk '$3 > 50 {print $2}' | sort -n | head`,
    `jq '{name}' a.json`,
    `jq '{a, b: .c}' a.json`,
    `sed -n '{p;q}' a.txt`,
    `grep -E '[0-9]{1,3}' a.log`,
    `docker ps --format '{{.ID}} {{.Names}}'`,
    // What only stands in a text is printed, not run and not opened.
    `awk '/down/ {print "reboot"}' a.log`,
    `awk '$0 ~ "rm -rf /" {n++} END {print n}' a.log`,
    `awk '$2 == "/etc/shadow"' a.log`,
    `psql -c 'select 1' | awk '{print $1}'`,
  ])('reads, from the home folder and from elsewhere: %s', (command) => {
    for (const cwd of [null, '/home/ann', '/srv/app', '/'])
      expect(at(command, cwd), `${cwd}: ${at(command, cwd).reasons[0]?.sentence}`).toMatchObject({
        risk: 'read_only',
        flags: { self: false },
      })
  })

  it.each([
    `awk '{print}' /home/ann/.local/share/nomos/a`,
    `awk '{print}' .local/share/nomos/a`,
    `awk 'BEGIN {while ((getline l < "/home/ann/.local/share/nomos/a") > 0) print l}'`,
    `cat {.local,x}/share/nomos/a`,
    `rg x -g '{.local,x}/share/nomos/**'`,
    `curl 'file:///home/ann/{.local,x}/share/nomos/a'`,
    `sqlite3 'file:/home/ann/.local/share/nomos/a?mode=ro&immutable=1' .tables`,
    `sqlite3 'file:.local/share/nomos/a?mode=ro&immutable=1' .tables`,
    `yq .local/share/nomos/a.yaml`,
  ])('never reads what is ours: %s', (command) => expect(at(command).risk).not.toBe('read_only'))

  it.each([
    [`awk '{print}' ~/.aws/credentials`, 'destructive'],
    [`jq . /home/ann/.docker/config.json`, 'destructive'],
    [`awk '{system("rm -rf /srv")}' a`, 'destructive'],
    [`psql -c 'drop table a'`, 'destructive'],
    [`sqlite3 'file:/home/ann/.mozilla/a/cookies.sqlite?mode=ro&immutable=1' .dump`, 'config_mutation'],
    [`yq secrets.yaml`, 'config_mutation'],
    [`find . -name '*.log' | xargs awk '{print $1}'`, 'config_mutation'],
    [`find . | xargs awk`, 'config_mutation'],
    [`echo '.shell id' | sqlite3 :memory:`, 'config_mutation'],
    [`echo 'drop table a' | psql`, 'destructive'],
  ])('%s is %s', (command, risk) => expect(at(command).risk).toBe(risk))

  it('a script that only reads still says that it is a script', () => {
    expect(at(`awk '{print}' a`).flags.inlineEval).toBe(true)
  })
})
