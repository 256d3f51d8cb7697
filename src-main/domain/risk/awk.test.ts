import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { awkAssignmentProblem, awkProblem } from './awk'

const READS: readonly string[] = [
  '{print $1}',
  '{print $1, $NF}',
  'NR==1',
  'NR>1 {print $2}',
  '/err/',
  '/err/ && !/x/ {n++} END {print n}',
  '$3 ~ /^a[0-9]+$/ {print}',
  'BEGIN{FS=":"} $3>=1000 {print $1}',
  '{s+=$1} END{print s/NR}',
  '{a[$1]++} END{for(k in a) print k, a[k]}',
  '!seen[$0]++',
  'length > 80',
  'length($0)>80',
  '{print (NR>1 ? "a" : "b")}',
  'NR==5,NR==10',
  '{printf "%-20s %s\\n", $1, $2}',
  '{printf("%.2f\\n", $1/1024)}',
  '{gsub(/"/,""); print}',
  '{sub(/^[^:]*:/, "", $1); print $1}',
  '{split($0,a,","); print a[1]}',
  '{ $1=""; print }',
  '{print $(NF-1)}',
  'END{print NR}',
  '{if($1>5) print "x"; else print "y"}',
  '{if ($1 > max) max = $1} END {print max}',
  'BEGIN{while((getline line) > 0) n++; print n}',
  'function f(x){return x*2} {print f($1)}',
  '{for(i=1;i<=NF;i++) if($i~/x/) print $i}',
  '/start/{f=1} f; /end/{f=0}',
  '{ sum += $5 } END { printf "%.1f MB\\n", sum/1024/1024 }',
  'NF',
  '1',
  '{print NR": "$0}',
  '/a|b/{print}',
  '$0 !~ /x/',
  '{print toupper(substr($1,1,1)) substr($1,2)}',
  '{n=split($0,a,/[ ,]+/); for(i=n;i>0;i--) printf "%s ",a[i]; print ""}',
  'BEGIN { PROCINFO["sorted_in"]="@ind_str_asc" } {print}',
  '# c\n{print} # d\n',
  '$1=="a"||$2=="b"{print;next}{print "n"}',
  '{load=$1; print load}',
  '{print $1-1, -$2}',
  '{print length}',
  '/\\/var\\/log/{print}',
  '{ print ($1 > 3) }',
  '{x = $1 > 3; print x}',
  '$9 ~ /[45][0-9][0-9]/ {c[$9]++} END {for (i in c) print i, c[i]}',
  '{print strftime("%F", $1)}',
  '($1 in a) {print}',
  '{delete a[$1]; delete a}',
  '{exit}',
  'NR%2',
  '{print $1/$2}',
  '{$2=$2/2}1',
  '{ if (x) { print } else if (y) print 1; else { print 2 } }',
  'BEGIN{for(;;){if(++i>5)break}}',
  '{print; getline; print}',
  '{do {i++} while (i<5); print i}',
  '{print $1 " " $2 " " ($3>0)}',
  '$2*1 > 5',
  '{a[$1,$2]++} END{for(k in a){split(k,p,SUBSEP);print p[1]}}',
  '{ c = a ? b : d }',
  '-x',
  '$1 > $2',
  '$1!=p{print;p=$1}',
  '$NF>0',
  '{print $1,\n $2}',
  'BEGIN{RS=""}{print $1}',
  '{OFMT="%.2f"; print}',
]

const MORE: readonly string[] = [
  '{system("x")}',
  '{print > "f"}',
  '{print $1 > "f"}',
  '{print $1, $2 > "f"}',
  '{print(a)(b) > "f"}',
  '{printf("x") > "f"}',
  '{print a > b ? c : d}',
  '{print (1)>2}',
  '{print -1 " " > "f"}',
  '{print >> "f"}',
  '{print | "sh"}',
  '{"cmd" | getline}',
  '{"cmd" | getline x}',
  '{"cmd" |& getline}',
  '{getline < "f"}',
  '{getline l < "f"}',
  '{while ((getline l < "f") > 0) print l}',
  '{print $1 \\\n > "f"}',
  '@include "x"\n{print}',
  '@load "x"',
  'BEGIN{for(k in ENVIRON) print k}',
  'BEGIN{ARGV[1]="/etc/shadow"}',
  '{ARGC=3}',
  '{f="system"; @f("x")}',
  'BEGIN{while(1);}',
  'BEGIN{for(;;);}',
  '{print "a" > $2}',
  '{print a, b >"f"}',
  '{print a[1>2]}',
  '{ print /x/ > "f" }',
  '{x["a"]="b" | "sh"}',
  '{system ("x")}',
  '{print("a")>"f"}',
  '{if(1)print"x">"f"}',
  '{print > "/dev/stderr"}',
  '{ printf "a" >"/inet/tcp/0/x/1" }',
  '{OFMT="%n"}',
  '{CONVFMT=x}',
  'BEGIN{SYMTAB["x"]=1}',
  '{foo("x")}',
  'a=/x/ > "f"{print}\x00',
  '{print a"">"f"}',
  '{ x = "\\" ; system("a") }',
  '/[/]/{print}',
  '{a++ /x/; print}',
  '{print "x" /y/}',
  '{print $1;print $2>"f"}',
  '{ {print>"f"} }',
  'BEGIN { getline x < ARGV[1] }',
  'function system(x){}{}',
  '{print\n>"f"}',
  '{extension("x")}',
  '{print (a,b)>"f"}',
  '{print a in b > "f"}',
  '{print !x > "f"}',
  '{print $1 > "f" "g"}',
  '{print a = b > "f"}',
  '{print f(x) > "f"}',
  '{print getline > "f"}',
  '{print -getline < "f"}',
  '{close("x") | getline}',
  '{print length > "f"}',
  '{print a?b:c > "f"}',
  '{print a~b>"f"}',
  '{print $a++>"f"}',
  '{print(a)>"f"}',
  '{print ++a>"f"}',
]

/** What does more than read, in every way it is written; each is a statement. */
const HARM = [
  'system("x")',
  'system (x)',
  'print > "f"',
  'print $1 > f',
  'print a, b >> "f"',
  'print(a)(b) > "f"',
  'printf("x") > "f"',
  'print | "sh"',
  'print |& "sh"',
  '"id" | getline',
  'x |& getline y',
  'getline < "f"',
  'getline line < f',
  'ARGV[1] = "f"',
  'for (k in ENVIRON) print k',
  '@f("x")',
  'unknown(1)',
]

/** Statements of a few kinds, and programs of them. */
const value = fc.constantFrom(
  '$1',
  '$NF',
  'a',
  'a[1]',
  '"s"',
  '"a > b | c"',
  '1',
  '(a > 1)',
  'length($0)',
  'x / 2',
  '-1',
  'f(1)',
  '!a',
)
const plain = fc.oneof(
  fc.tuple(value, value).map(([a, b]) => `print ${a}, ${b}`),
  fc.tuple(value, value).map(([a, b]) => `printf "%s\\n", ${a} "-" ${b}`),
  value.map((a) => `x = ${a}`),
  value.map((a) => `gsub(/[0-9]+|">"/, ${a})`),
  fc.constantFrom('getline', 'n++', 'next', 'delete a', 'exit', 'getline line', 'split($0, p, /,/)'),
)
const nested = fc.letrec<{ statement: string }>((tie) => ({
  statement: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    plain,
    fc.tuple(value, tie('statement')).map(([c, s]) => `if (${c}) { ${s} }`),
    fc.tuple(value, tie('statement'), tie('statement')).map(([c, s, t]) => `if (${c}) { ${s} } else { ${t} }`),
    tie('statement').map((s) => `for (i = 0; i < 3; i++) { ${s} }`),
    tie('statement').map((s) => `for (k in a) { ${s} }`),
    tie('statement').map((s) => `while ((getline line) > 0) { ${s} }`),
  ),
})).statement
const pattern = fc.constantFrom('', 'BEGIN ', 'END ', '/x/ ', '$1 > 2 ', 'NR == 1, /y/ ', '!seen[$0]++ ')
const program = (statements: readonly string[], first: string): string =>
  `function f(a) { return a * 2 }\n${first}{ ${statements.join('; ')} }`

describe('awk', () => {
  it.each(READS.map((text) => [text]))('only reads: %s', (text) => expect(awkProblem(text)).toBeNull())
  it.each(MORE.map((text) => [text]))('does more: %s', (text) => expect(awkProblem(text)).toMatch(/^[A-Z].*\.$/))

  it('programs of plain statements only read, and none does with one that does more among them', () => {
    fc.assert(
      fc.property(
        fc.array(nested, { minLength: 1, maxLength: 5 }),
        pattern,
        fc.constantFrom(...HARM),
        fc.nat(),
        (list, first, harm, at) => {
          expect(awkProblem(program(list, first))).toBeNull()
          const spoilt = [...list]
          spoilt.splice(at % (list.length + 1), 0, harm)
          expect(awkProblem(program(spoilt, first)), program(spoilt, first)).not.toBeNull()
          expect(awkProblem(`${program(list, first)}\nEND { if (a) { ${harm} } }`)).not.toBeNull()
        },
      ),
      { numRuns: 400 },
    )
  })

  it('never throws, whatever it is given', () => {
    const soup = fc.array(
      fc.oneof(
        fc.constantFrom(...READS, ...MORE).map((text) => text.slice(0, 9)),
        fc.constantFrom(...'{}()[]/"\\\n;,$!~><|&?:=+-*%^#@.'),
        fc.constantFrom('print', 'getline', 'in', 'if', 'for', 'function', 'a', '1', ' '),
      ),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(
        fc.oneof(
          soup.map((list) => list.join('')),
          fc.string({ unit: 'binary' }),
        ),
        (text) => {
          const problem = awkProblem(text)
          expect(problem === null || problem.endsWith('.')).toBe(true)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('nesting has an end', () => {
    expect(awkProblem(`{x = ${'('.repeat(400)}1${')'.repeat(400)}}`)).not.toBeNull()
    expect(awkProblem(`${'{'.repeat(1900)}`)).not.toBeNull()
    expect(awkProblem(`{x = ${'!'.repeat(1900)}1}`)).not.toBeNull()
    expect(awkProblem(`{x = ${'1 '.repeat(900)}}`)).toBeNull()
    expect(awkProblem(`{x = ${'1 '.repeat(1900)}}`)).not.toBeNull()
  })

  it('variables set from outside are plain ones', () => {
    for (const text of ['n=3', 'FS=:', 'x=a=b', 'OFMT=%.2f', 'd=', 'x=\\n'])
      expect(awkAssignmentProblem(text), text).toBeNull()
    for (const text of ['ARGV=1', 'ENVIRON=1', 'OFMT=%n', 'CONVFMT=%s', 'system=1', 'a::b=1', '1=2', 'x', ''])
      expect(awkAssignmentProblem(text), text).not.toBeNull()
  })
})
