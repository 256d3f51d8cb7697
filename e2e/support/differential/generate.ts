// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text
/**
 * Shell scripts made at random from a grammar of bash and of its mistakes, the same ones for the same seed. Every command has a name
 * of its own (`c1`, `c2`, …), so that what ran can be told from what was seen. Loops end by themselves, functions do not call
 * themselves.
 */

/** Mulberry32: numbers from 0 up to 1. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Builtins whose runs are told as well. */
export const TOLD_BUILTINS = ['echo', 'printf', 'cd', 'true', 'false', 'eval', 'type', 'pwd'] as const

/** Programs the sandbox has; each tells the path it was started by. */
export const PATHS = ['/tmp/x/p1', '/tmp/x/p2', '../../x/p3', '/tmp/x/../x/p4'] as const

const PLAIN = [
  'a',
  'b1',
  '-x',
  '--o',
  '--o=v',
  '/p/q',
  'a.b',
  'a:b',
  'a=b',
  '%',
  '+',
  '@',
  '-',
  '--',
  '1',
  '2',
  ',',
  'x@y',
  '^',
  '!',
]
const ODD = ['é', '😀', '\u00a0', '\u200b', 'a\u00a0b', '\u3000', '\u0001', '\r', '\f', '\u2028', 'ａ']
const TOKENS = [
  ...'; & | && || ;; ;& ;;& ( ) { } [[ ]] [ ] (( )) ! $ ` \' " \\ # = += ~ * ? < > << >> <& >& <> >| &> &>> <<< <<- |& $( ${ $(( $[ <( >( $\' $" @( !( +( if then elif else fi for in do done while until case esac select function time coproc - 3<&- 2>&1 >&- a[ a[] a[1 ]= A=( A[ ${V ${V} $V $1 $# $$ $- $_ E'.split(
    ' ',
  ),
  ' ',
  ' ',
  ' ',
  '\n',
  '\n',
  '\t',
  '\\\n',
  '\r',
  ';\n',
  '\u00a0',
]

export class Generator {
  private readonly next: () => number
  private ids = 0
  /** Here-documents whose text comes after the next new line. */
  private pending: { readonly delimiter: string; readonly body: string }[] = []
  private depth = 0

  constructor(seed: number) {
    this.next = numbers(seed)
  }

  private below(n: number): number {
    return Math.floor(this.next() * n)
  }

  private chance(p: number): boolean {
    return this.next() < p
  }

  private pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  private choose(options: readonly (readonly [number, () => string])[]): string {
    let total = 0
    for (const [weight] of options) total += weight
    let at = this.next() * total
    for (const [weight, make] of options) {
      at -= weight
      if (at < 0) return make()
    }
    return ''
  }

  private several(least: number, most: number, make: () => string, separator: () => string): string {
    let text = make()
    const n = least + this.below(most - least + 1)
    for (let i = 1; i < n; i++) text += separator() + make()
    return text
  }

  private blank(): string {
    return this.choose([
      [30, () => ' '],
      [2, () => '  '],
      [2, () => '\t'],
      [2, () => ' \\\n'],
      [1, () => '\\\n '],
    ])
  }

  /**
   * Scripts to try. Where something about a text makes the gate ask anyway nothing can be missed, so most are ones of which `asks` is
   * false.
   */
  scripts(count: number, asks: (script: string) => boolean): readonly string[] {
    return Array.from({ length: count }, () => {
      const any = this.chance(0.3)
      for (let tries = 0; ; tries++) {
        const script = this.script()
        if (any || tries === 30 || !asks(script)) return script
      }
    })
  }

  /** One script. */
  private script(): string {
    this.ids = 0
    this.pending = []
    this.depth = 0
    const soup = this.chance(0.22)
    let text = soup ? this.soup() : this.list() + this.flush()
    if (!soup && this.chance(0.4)) text = this.spoil(text)
    // Half a character cannot be handed to any program.
    return text.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '')
  }

  private soup(): string {
    let text = ''
    const n = 3 + this.below(16)
    for (let i = 0; i < n; i++) {
      text += this.choose([
        [4, () => this.id()],
        [7, () => this.pick(TOKENS)],
        [1, () => this.pick(PLAIN)],
        [1, () => this.word()],
        [1, () => this.simple()],
      ])
      if (this.chance(0.55)) text += ' '
    }
    return text
  }

  /** Small accidents: what is left out, doubled, moved or cut off. */
  private spoil(script: string): string {
    let text = script
    const n = 1 + this.below(3)
    for (let i = 0; i < n; i++) {
      const at = this.below(text.length + 1)
      const length = 1 + this.below(3)
      text = this.choose([
        [3, () => text.slice(0, at) + text.slice(at + length)],
        [4, () => text.slice(0, at) + this.pick(TOKENS) + text.slice(at)],
        [1, () => text.slice(0, at) + text.slice(at, at + 8) + text.slice(at)],
        [1, () => text.slice(0, at)],
        [1, () => `${text.slice(0, at)}\\\n${text.slice(at)}`],
        [1, () => text.slice(0, at) + this.id() + text.slice(at)],
        [1, () => text.slice(at) + text.slice(0, at)],
      ])
    }
    return text
  }

  private id(): string {
    this.ids++
    return `c${this.ids}`
  }

  /** The name of a command, written in any of the ways that come to the same. */
  private name(): string {
    if (this.chance(0.08)) return this.pick(TOLD_BUILTINS)
    if (this.chance(0.05)) return this.pick(PATHS)
    const id = this.id()
    const rest = id.slice(1)
    return this.choose([
      [24, () => id],
      [1, () => `'${id}'`],
      [1, () => `"${id}"`],
      [1, () => `c'${rest}'`],
      [1, () => `"c"${rest}`],
      [1, () => `\\${id}`],
      [1, () => `$'\\x63${rest}'`],
      [1, () => `$'\\143${rest}'`],
      [1, () => `$'\\u0063'${rest}`],
      [1, () => `c$'${rest}'`],
      [1, () => `$"${id}"`],
      [1, () => `c\\\n${rest}`],
      [1, () => `''${id}`],
      [1, () => `${id}""`],
      [1, () => `{${id},a}`],
      [1, () => `"c"'${rest}'`],
      [1, () => `$V${id}`],
      [1, () => `\${V:-${id}}`],
      [1, () => `$(echo ${id})`],
      [1, () => `${id}${this.pick(ODD)}`],
      [1, () => `${id}]`],
      [1, () => `${id}=`],
      [1, () => `${id}[1]`],
      [1, () => `${id}#`],
      [1, () => `~${id}`],
      [1, () => `${id}:`],
      [1, () => `${id}%`],
      [1, () => `${id}{`],
      [1, () => `}${id}`],
    ])
  }

  private inner(make: () => string, otherwise: string): string {
    if (this.depth >= 3) return otherwise
    const outer = this.pending
    this.pending = []
    this.depth++
    const text = make() + this.flush()
    this.depth--
    this.pending = outer
    return text
  }

  private flush(): string {
    if (this.pending.length === 0) return ''
    let text = '\n'
    for (const { delimiter, body } of this.pending) text += `${body}${delimiter}\n`
    this.pending = []
    return text
  }

  /** `$(…)` and its kin, with commands inside. */
  private substitution(): string {
    return this.choose([
      [8, () => `$(${this.inner(() => this.list(), 'a')})`],
      [1, () => `$( ${this.inner(() => this.list(), 'a')} )`],
      [1, () => `$(\n${this.inner(() => this.list(), 'a')}\n)`],
      [3, () => `\`${this.inner(() => this.simple(), 'a').replace(/[`\\]/g, '\\$&')}\``],
      [1, () => `\`${this.id()} \\\`${this.id()}\\\`\``],
      [1, () => `\`${this.id()} "${this.id()}"\``],
      [1, () => `$((1+1))`],
      [1, () => `$(( A[$(${this.id()})] + 1 ))`],
      [1, () => `$((${this.id()}) )`],
      [1, () => `$((${this.id()});(${this.id()}))`],
      [1, () => `$[1+$(${this.id()})]`],
      [1, () => `$(<a)`],
      [1, () => `$(case x in x) ${this.id()};; esac)`],
      [1, () => `$(# ) '\n${this.id()})`],
      [1, () => `$(cat <<E\n) $(${this.id()}) '\nE\n)`],
    ])
  }

  private expansion(): string {
    const v = this.pick(['V', 'W', 'A', '1', '#', '?', '@', '*', '!', '-', 'HOME'])
    const w = (): string => this.inner(() => this.pieces(), 'a')
    return this.choose([
      [6, () => `$${v}`],
      [3, () => `\${${v}}`],
      [3, () => `\${${v}:-${w()}}`],
      [1, () => `\${${v}-${w()}}`],
      [1, () => `\${${v}:+${w()}}`],
      [1, () => `\${V:=${w()}}`],
      [1, () => `\${${v}#${w()}}`],
      [1, () => `\${${v}%%${w()}}`],
      [1, () => `\${${v}/${w()}/${w()}}`],
      [1, () => `\${${v}//${w()}}`],
      [1, () => `\${${v}^${w()}}`],
      [1, () => `\${${v}:$(${this.id()}):1}`],
      [1, () => `\${#${v}}`],
      [1, () => `\${A[0]}`],
      [1, () => `\${A[$(${this.id()})]}`],
      [1, () => `\${A[${w()}]}`],
      [1, () => `\${V:-"$(${this.id()})"}`],
      [1, () => `\${V:-'$(${this.id()})'}`],
      [1, () => `\${V:-\`${this.id()}\`}`],
      [1, () => `\${V:-<(${this.id()})}`],
      [1, () => `\${!V}`],
      [1, () => `\${V@Q}`],
      [1, () => `\${!V*}`],
      [1, () => `\${ ${this.id()}; }`],
      [1, () => `\${V:-}}`],
      [1, () => `\${V:-'}'$(${this.id()})}`],
      [1, () => `\${V:-\\}$(${this.id()})}`],
    ])
  }

  private quoted(): string {
    return this.choose([
      [3, () => `'a b'`],
      [1, () => `'a\\'`],
      [1, () => `'$(${this.id()})'`],
      [1, () => `''`],
      [3, () => `"a b"`],
      [1, () => `""`],
      [2, () => `"${this.substitution()}"`],
      [1, () => `"a${this.substitution()}b\\"c"`],
      [1, () => `"${this.expansion()}"`],
      [1, () => `"\\$(${this.id()})"`],
      [1, () => `"\\\\$(${this.id()})"`],
      [1, () => `"\\a\\\`\\'"`],
      [1, () => `"a\\\nb"`],
      [1, () => `"'$(${this.id()})'"`],
      [1, () => `"\${V:-"$(${this.id()})"}"`],
      [1, () => `"\${V:-'$(${this.id()})'}"`],
      [1, () => `"$'a'"`],
      [1, () => `"!a"`],
      [2, () => `$'a\\n\\x41\\102\\u0043'`],
      [1, () => `$'a\\'b'`],
      [1, () => `$'\\cA\\e\\?\\z'`],
      [1, () => `$'a\\x00b'`],
      [1, () => `$'\\xe9'`],
      [1, () => `$'\\u00e9\\U1F600'`],
      [1, () => `$'\\x4142\\1234'`],
      [1, () => `$'a\\\nb'`],
      [1, () => `$'\\x{41}\\8\\09'`],
      [1, () => `$"a b"`],
      [1, () => `$"$(${this.id()})"`],
      [1, () => `'a\nb'`],
      [1, () => `"#"`],
    ])
  }

  private piece(): string {
    return this.choose([
      [14, () => this.pick(PLAIN)],
      [8, () => this.quoted()],
      [4, () => this.expansion()],
      [5, () => this.substitution()],
      [1, () => this.pick(ODD)],
      [1, () => this.pick(['\\a', '\\ ', '\\$', '\\`', '\\"', "\\'", '\\\\', '\\;', '\\#', '\\(', '\\\n'])],
      [1, () => this.pick(['*', '?', '[a-z]', '[!a]*', 'a*b', '[]a]', '[[:alpha:]]', '**', '[', ']', '[a'])],
      [1, () => this.pick(['{a,b}', '{1..3}', '{a', '}', '{}', '{a,{b,c}}', '{a..c}', `{a,"b c"}`, '{a,}'])],
      [1, () => `{a,$(${this.id()})}`],
      [1, () => this.pick(['~', '~root', '~+', '~-', 'a~', '~/a', 'a=~', 'a:~'])],
      [1, () => this.pick(['#', 'a#b', '$', 'a$', '$ ', '=', '==', '=a', '+=', '$\\', "$''", '$"'])],
      [
        1,
        () =>
          this.pick([
            'a[',
            'a[1]',
            'a[ ]',
            'a[1]=b',
            'a[b c]',
            'a[ b ]]',
            'a[$V]=',
            'a[]',
            'a[]=b',
            'a[1]+=b',
            'a[[1]]=c',
          ]),
      ],
      [1, () => `a[$(${this.id()}) ]]`],
      [1, () => `a[$(${this.id()})]=b`],
      [1, () => `a[\`${this.id()}\`]`],
      [1, () => `a["$(${this.id()})"]=b`],
      [1, () => `a[ $(${this.id()}) ]=b`],
      [1, () => `@(a|b)`],
    ])
  }

  private pieces(): string {
    return this.chance(0.7)
      ? this.piece()
      : this.several(
          2,
          3,
          () => this.piece(),
          () => '',
        )
  }

  private word(): string {
    if (this.chance(0.05))
      return this.choose([
        [1, () => `<(${this.inner(() => this.list(), 'a')})`],
        [1, () => `>(${this.id()})`],
        [1, () => `a<(${this.id()})b`],
      ])
    return this.pieces()
  }

  private assignment(): string {
    return this.choose([
      [6, () => `V=${this.chance(0.2) ? '' : this.pieces()}`],
      [2, () => `W=${this.pieces()}`],
      [1, () => `V+=${this.pieces()}`],
      [
        2,
        () =>
          `A=(${this.several(
            1,
            3,
            () => this.pieces(),
            () => ' ',
          )})`,
      ],
      [1, () => `A=( [0]=${this.pieces()} [$(${this.id()})]=b )`],
      [1, () => `A=( # $(${this.id()})\n a )`],
      [1, () => `A+=(${this.pieces()})`],
      [1, () => `A[0]=${this.pieces()}`],
      [1, () => `A[$(${this.id()})]=a`],
      [1, () => `A[1 + 1]=a`],
      [1, () => `A['x y']=a`],
      [1, () => `A=($(${this.id()}))x`],
      [1, () => `A=(a) b`],
      [1, () => `V=$(${this.id()})$V`],
      [1, () => `V= `],
      [1, () => `V =a`],
      [1, () => `1V=a`],
      [1, () => `V-=a`],
      [1, () => `V=a=b`],
      [1, () => `V[=a`],
      [1, () => `A[]=a`],
      [1, () => `A[0]+=a`],
      [1, () => `A[0][1]=a`],
      [1, () => `V=~`],
      [1, () => `V={a,b}`],
      [1, () => `V=*`],
    ])
  }

  private hereDocument(): string {
    const strip = this.chance(0.25)
    const delimiter = this.pick(['E', 'EOF', 'x1', 'E-F', 'é'])
    const written = this.choose([
      [5, () => delimiter],
      [2, () => `'${delimiter}'`],
      [1, () => `"${delimiter}"`],
      [1, () => `\\${delimiter}`],
      [1, () => `${delimiter.slice(0, 1)}'${delimiter.slice(1)}'`],
      [1, () => `$'${delimiter}'`],
    ])
    const line = (): string =>
      this.choose([
        [4, () => 'a b'],
        [1, () => `$(${this.id()})`],
        [1, () => `\`${this.id()}\``],
        [1, () => `\\$(${this.id()})`],
        [1, () => `\${V:-$(${this.id()})}`],
        [1, () => `"'$(${this.id()})'"`],
        [1, () => `' " \``],
        [1, () => `$V $((1+$(${this.id()})))`],
        [1, () => `a\\`],
        [1, () => ` ${delimiter}`],
        [1, () => `${delimiter} `],
        [1, () => `${delimiter}\\`],
        [1, () => ''],
        [1, () => `<(${this.id()})`],
      ])
    const body = this.chance(0.1) ? '' : `${this.several(1, 3, line, () => '\n')}\n`
    this.pending.push({ delimiter: this.chance(0.95) ? (strip ? `\t${delimiter}` : delimiter) : `${delimiter}x`, body })
    return `${this.pick(['', '', '0', '3'])}<<${strip ? '-' : ''}${this.pick(['', ' '])}${written}`
  }

  private redirection(): string {
    const target = (): string => (this.chance(0.7) ? this.pick(['/dev/null', 'f1', 'f2']) : this.pieces())
    const gap = this.pick(['', '', ' '])
    return this.choose([
      [5, () => `>${gap}${target()}`],
      [2, () => `2>${gap}${target()}`],
      [2, () => `>>${gap}${target()}`],
      [3, () => `<${gap}/dev/null`],
      [1, () => `<>${gap}f3`],
      [1, () => `>|${gap}${target()}`],
      [1, () => `&>${gap}${target()}`],
      [1, () => `&>>${gap}${target()}`],
      [1, () => `>&${gap}${target()}`],
      [3, () => '2>&1'],
      [1, () => '>&2'],
      [1, () => '3<&-'],
      [1, () => '2>&-'],
      [1, () => '>&1-'],
      [1, () => '3<&0-'],
      [1, () => `3<&-${this.id()}`],
      [1, () => `>&-${this.id()}`],
      [1, () => `2>&1${this.id()}`],
      [1, () => `2>& -${this.id()}`],
      [1, () => `<&-\\\n${this.id()}`],
      [1, () => `{fd}>${gap}${target()}`],
      [1, () => `{fd}<&-`],
      [1, () => `{A[$(${this.id()})]}>f1`],
      [2, () => `<<<${gap}${this.pieces()}`],
      [5, () => this.hereDocument()],
      [1, () => `> >(${this.id()})`],
      [1, () => `< <(${this.id()})`],
      [1, () => `>$(${this.id()})`],
      [1, () => `12>f1`],
      [1, () => `>f1>f2`],
      [1, () => `2>f1${this.id()}`],
      [1, () => `> f1\\\n`],
      [1, () => `2 >f1`],
      [1, () => `2\\\n>f1`],
      [1, () => `>\\\nf1`],
    ])
  }

  private simple(): string {
    const parts: string[] = []
    while (this.chance(0.14)) parts.push(this.assignment())
    while (this.chance(0.07)) parts.push(this.redirection())
    if (this.chance(0.96)) {
      if (this.chance(0.05))
        parts.push(
          this.pick([
            'command',
            'builtin',
            'exec',
            'export',
            'declare',
            'local',
            'readonly',
            'time',
            'time -p',
            '!',
            'eval',
            'nohup',
            'env',
            'coproc',
            'typeset',
            'unset',
            'let',
            'test',
            '[',
            'trap',
            'set',
            'shift',
            'alias',
            ':',
            'read',
            'mapfile',
          ]),
        )
      parts.push(this.name())
      while (this.chance(0.5)) {
        parts.push(
          this.choose([
            [10, () => this.word()],
            [2, () => this.redirection()],
            [1, () => this.assignment()],
          ]),
        )
      }
    }
    if (parts.length === 0) parts.push(this.id())
    let text = ''
    for (const part of parts) text += (text === '' ? '' : this.blank()) + part
    return text
  }

  private newline(): string {
    return this.pending.length > 0 ? this.flush() : '\n'
  }

  private separator(): string {
    return this.choose([
      [5, () => '; '],
      [1, () => ';'],
      [2, () => ' && '],
      [2, () => ' || '],
      [1, () => '&&\n'],
      [1, () => ' & '],
      [1, () => '&'],
      [5, () => this.newline()],
      [1, () => ` # comment '$(${this.id()})${this.newline()}`],
      [1, () => `;${this.newline()}`],
      [1, () => `||\\\n`],
    ])
  }

  private list(): string {
    let text = this.pipeline()
    const n = this.below(this.depth === 0 ? 4 : 2)
    for (let i = 0; i < n; i++) text += this.separator() + this.pipeline()
    return text
  }

  private pipeline(): string {
    const bang = this.chance(0.05) ? this.pick(['! ', 'time ', '! ! ', 'time -p ', 'time ! ', 'time -- ']) : ''
    let text = bang + this.command()
    while (this.chance(0.15))
      text += this.pick([' | ', '|', '|&', ' |\n', ' | \\\n', ' |& ', '| # x\n']) + this.command()
    return text
  }

  private command(): string {
    if (this.depth >= 3 || this.chance(0.68)) return this.simple()
    let text = this.compound()
    while (this.chance(0.15)) text += this.pick([' ', '']) + this.redirection()
    return text
  }

  /** A list inside a construct, ended so that a reserved word may follow. */
  private body(): string {
    return this.inner(() => this.list(), this.id()) + this.pick(['; ', ';', '\n', ';\n'])
  }

  private test(): string {
    const operand = (): string => this.inner(() => this.pieces(), 'a')
    return this.choose([
      [3, () => `[[ ${operand()} ]]`],
      [3, () => `[[ ${operand()} ${this.pick(['==', '=', '!=', '<', '>', '=~', '-eq', '-nt'])} ${operand()} ]]`],
      [1, () => `[[ -n ${operand()} && ! ( ${operand()} || -f ${operand()} ) ]]`],
      [1, () => `[[ $(${this.id()}) ]]`],
      [1, () => `[[ a[$(${this.id()})] -eq 1 ]]`],
      [1, () => `[[ a =~ ^(a|$(${this.id()}))$ ]]`],
      [1, () => `[[ a == @(a|$(${this.id()})) ]]`],
      [1, () => `[[ a\n]]`],
      [1, () => `[[ a ]]${this.id()}`],
      [1, () => `[[ a[${this.id()} ]]`],
      [1, () => `[ ${operand()} = ${operand()} ]`],
      [1, () => `[ -v A[$(${this.id()})] ]`],
      [1, () => `[[ -v V ]] ${this.id()}`],
      [1, () => `[[ a =~ [[:space:]] ]]`],
      [1, () => `[[ (a == b) ]]`],
      [1, () => `[[ a =~ a\\ b ]]`],
    ])
  }

  private compound(): string {
    const body = (): string => this.body()
    return this.choose([
      [3, () => `{ ${body()}}`],
      [1, () => `{ ${body()}}${this.id()}`],
      [3, () => `(${this.inner(() => this.list(), this.id())})`],
      [1, () => `((${this.id()});${this.id()})`],
      [
        3,
        () =>
          `if ${body()}then ${body()}${this.chance(0.3) ? `elif ${body()}then ${body()}` : ''}${this.chance(0.4) ? `else ${body()}` : ''}fi`,
      ],
      [2, () => `while ${body()}do ${body()}break; done`],
      [1, () => `until ${body()}do ${body()}break; done`],
      [
        2,
        () =>
          `for V in ${this.several(
            1,
            3,
            () => this.word(),
            () => ' ',
          )}${this.pick(['; ', '\n'])}do ${body()}done`,
      ],
      [1, () => `for V in a; { ${body()}}`],
      [1, () => `for V${this.pick(['; ', '\n', ' '])}do ${body()}done`],
      [1, () => `for ((i=0; i<1; i++))${this.pick(['; ', ' ', '\n'])}do ${body()}done`],
      [1, () => `for ((i=$(${this.id()}); i<1; i++)); do ${body()}done`],
      [1, () => `for ((;;)) { ${body()}break; }`],
      [
        2,
        () =>
          `case ${this.pieces()} in ${this.several(
            1,
            2,
            () =>
              `${this.pick(['', '('])}${this.pick(['*', 'a', 'a|*', '"x"', 'a | b', '[a]', `$(${this.id()})`, 'esac', '@(a|b)', 'in', "'a b'"])}) ${this.inner(() => this.list(), this.id())} ${this.pick([';;', ';&', ';;&', '\n;;'])}`,
            () => ' ',
          )} esac`,
      ],
      [1, () => `case a in a) ${this.id()} esac`],
      [1, () => `case x in\n# c)\n*) ${this.id()};;\nesac`],
      [1, () => `select V in a b; do ${body()}break; done`],
      [1, () => `f1() { ${body()}}; f1`],
      [1, () => `function f2 { ${body()}}; f2`],
      [1, () => `function f3() ( ${body()}); f3`],
      [1, () => `f4 ( )\n{ ${body()}} >f1; f4`],
      [1, () => `f5() if ${body()}then ${body()}fi; f5`],
      [1, () => `f6() [[ $(${this.id()}) ]]; f6`],
      [1, () => `function f-7 { ${body()}}; f-7`],
      [4, () => this.test()],
      [1, () => `((${this.pick(['1', 'i=1', 'i++', '1 > 2', 'a[0]', '1 ? 2 : 3'])}))`],
      [1, () => `(( $(${this.id()}) + 1 ))`],
      [1, () => `(( a[$(${this.id()})] ))`],
      [1, () => `(( 1 )) ${this.id()}`],
      [1, () => `((1) + ${this.id()})`],
      [1, () => `coproc ${this.id()}`],
      [1, () => `coproc { ${body()}}`],
      [1, () => `coproc N { ${body()}}`],
      [1, () => `coproc N ${this.id()}`],
      [1, () => `eval '${this.id()}; ${this.id()}'`],
      [1, () => `eval "${this.id()}" ${this.id()}`],
      [1, () => `trap '${this.id()}' EXIT`],
      [1, () => `declare A=($(${this.id()}))`],
      [1, () => `export V=${this.pieces()} W`],
      [1, () => `declare -a 'A=($(${this.id()}))'`],
      [1, () => `let 'a[$(${this.id()})]'`],
      [1, () => `printf -v 'a[$(${this.id()})]' x`],
    ])
  }
}
