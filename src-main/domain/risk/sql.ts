export type SqlDialect = 'postgres' | 'mysql' | 'sqlite'

const NOT_UNDERSTOOD = 'This SQL is not understood well enough to be let through.'
const WRITES = 'This SQL may do more than read.'
const CALLS = 'This SQL calls a function that is not known to only read.'
const SECRETS = 'This SQL may show passwords or tokens.'
const COMMAND = 'This command of the database client is not one that is known to only read.'

/**
 * Judges what a database client is given to run: null when every statement only reads, otherwise why not, in one sentence. A text
 * for psql or sqlite3 may also be one of their own commands (`\dt`, `.tables`).
 *
 * No comment, no variable and no dollar quotation is accepted, nor a text that ends elsewhere in another mode of the server; what
 * is left is a `SELECT` or its like, without any word that could make it write, and with functions of a list.
 */
export function sqlProblem(dialect: SqlDialect, text: string): string | null {
  if (text.length > MAX_LENGTH) return NOT_UNDERSTOOD
  try {
    if (dialect === 'postgres' && text.trimStart().startsWith('\\'))
      return PSQL_COMMAND.test(text.trim())
        ? SECRET.test(text.replace(/^\s*\\conninfo/, ''))
          ? SECRETS
          : null
        : COMMAND
    if (dialect === 'sqlite' && text.startsWith('.'))
      return SQLITE_COMMAND.test(text.trimEnd()) ? (SECRET.test(text) ? SECRETS : null) : COMMAND
    if (dialect === 'mysql' && MYSQL_LINE.test(text)) return COMMAND
    const list = split(tokens(dialect, text))
    if (list.length === 0) return NOT_UNDERSTOOD
    for (const statement of list) judge(dialect, statement)
    return null
  } catch (error) {
    if (error instanceof Refused) return error.message
    throw error
  }
}

/** Longer texts are for people to judge. */
const MAX_LENGTH = 2048

class Refused extends Error {}

/** Lists and descriptions of what is there; the last part of each is a name or a pattern of names. */
const PSQL_COMMAND =
  /^\\(?:(?:l|z|d|d[a-zA-Z]{1,3}|drds|sf|sv|conninfo|encoding|x|timing|a|t|h)[S+]{0,2}|pset +(?:pager +off|format|border|null|footer|tuples_only|expanded|linestyle|numericlocale|title)|x +(?:on|off|auto)|timing +(?:on|off))(?: +[A-Za-z0-9_.*?]{1,128}){0,2};?$/

const SQLITE_COMMAND =
  /^\.(?:(?:tables|schema|indexes|indices|fullschema|databases|dbinfo|dump|sha3sum|show|version|help|headers? +(?:on|off)|mode +[a-z]{1,12}|timer +(?:on|off)|width(?: +-?\d{1,4}){1,20}|nullvalue|changes +(?:on|off)|eqp +(?:on|off))(?: +[A-Za-z0-9_%]{1,64})?)$/

/** At the beginning of a line the client of MySQL takes these for its own. */
const MYSQL_LINE =
  /^[ \t]*(?:system|source|tee|notee|pager|nopager|delimiter|edit|connect|charset|prompt|resetconnection|query_attributes|ssl_session_data_print|print|rehash|nowarning|warnings|go|ego|quit|exit|status|clear|help)\b/im

interface Token {
  readonly kind: 'word' | 'quoted' | 'text' | 'number' | 'sign' | 'end'
  /** Words in small letters. */
  readonly text: string
}

/** What must not be shown, by its name: columns, tables, settings. */
const SECRET =
  /passw|passwd|passphrase|pwd|secret|token|credential|api_?key|private_?key|access_?key|auth_?key|session_?key|authentication_string|conninfo|pg_authid|pg_user_mapping|pg_shadow|pg_subscription|pg_largeobject|global_priv|proxies_priv|master_info|plugin_data|mfa|otp_|_otp|salt|hash_?pw|ssn|pg_hba|identified/i

/** Virtual tables that read files, or whatever else they are told to. */
const FILE_TABLES =
  /^(?:fsdir|zipfile|readfile|writefile|edit|load_extension|csv|completion|sqlite_dbpage|vsv|sqlite_dbdata|sqlite_dbptr)$/

/** Words that make a query write, lock or take a number, and the beginnings of statements that are none. */
const FORBIDDEN = new Set(
  `insert update delete merge upsert into create alter drop truncate grant revoke set lock call execute prepare copy vacuum
  reindex load attach detach pragma procedure outfile dumpfile infile import returning nextval currval lastval setval operator
  persist shutdown kill`.split(/\s+/),
)

/** Words an opening parenthesis may follow without being a call. */
const BEFORE_PARENTHESIS = new Set(
  `select from where and or not in exists any some all values over filter group by on using join having limit offset case when
  then else union intersect except distinct between like ilike is interval as lateral row rows array cube rollup sets
  window partition order index with recursive materialized xor div mod rlike regexp similar end zone`.split(/\s+/),
)

const COMMON = `count sum min max avg coalesce nullif lower upper length char_length character_length octet_length substr
  substring trim ltrim rtrim replace round abs ceil ceiling floor mod power sqrt sign concat concat_ws left right reverse
  cast extract row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
  current_date current_time current_timestamp localtime localtimestamp now greatest least position instr lpad rpad
  varchar char character decimal numeric timestamp time bit float double datetime
  stddev stddev_pop stddev_samp variance var_pop var_samp bit_and bit_or bit_xor exp ln log log10 log2 pi hex md5 sha1 quote
  json_array json_object json_extract json_array_length json_type json_valid json_each json_tree json_quote`

const FUNCTIONS: Readonly<Record<SqlDialect, ReadonlySet<string>>> = {
  postgres: new Set(
    `${COMMON} to_char to_date to_timestamp to_number date_trunc date_part date_bin age make_date make_interval justify_interval
    clock_timestamp statement_timestamp transaction_timestamp timeofday string_agg array_agg array_length array_to_string
    string_to_array array_position unnest cardinality json_agg jsonb_agg json_object_agg jsonb_object_agg json_build_object
    jsonb_build_object json_build_array jsonb_build_array jsonb_array_elements json_array_elements jsonb_array_elements_text
    json_array_elements_text jsonb_array_length jsonb_each jsonb_each_text json_each_text jsonb_object_keys json_object_keys
    jsonb_pretty jsonb_typeof json_typeof to_json to_jsonb row_to_json jsonb_extract_path jsonb_extract_path_text
    json_extract_path json_extract_path_text bool_and bool_or every percentile_cont percentile_disc mode regexp_replace
    regexp_matches regexp_match regexp_split_to_table split_part initcap strpos starts_with format btrim translate encode
    generate_series generate_subscripts width_bucket trunc div num_nulls num_nonnulls version current_database current_schema
    current_schemas current_catalog inet_server_addr inet_server_port inet_client_addr pg_backend_pid pg_postmaster_start_time
    pg_conf_load_time pg_is_in_recovery pg_is_wal_replay_paused pg_last_wal_receive_lsn pg_last_wal_replay_lsn
    pg_last_xact_replay_timestamp pg_current_wal_lsn pg_current_wal_insert_lsn pg_current_wal_flush_lsn pg_wal_lsn_diff
    pg_walfile_name pg_size_pretty pg_size_bytes pg_database_size pg_total_relation_size pg_relation_size pg_table_size
    pg_indexes_size pg_tablespace_size pg_column_size pg_get_viewdef pg_get_indexdef pg_get_constraintdef pg_get_functiondef
    pg_get_expr pg_get_userbyid pg_table_is_visible pg_encoding_to_char pg_blocking_pids pg_stat_get_activity
    pg_stat_get_live_tuples pg_stat_get_dead_tuples pg_tablespace_location obj_description col_description shobj_description
    format_type has_table_privilege has_database_privilege has_schema_privilege has_column_privilege pg_has_role to_regclass
    quote_ident quote_literal txid_current_if_assigned pg_snapshot_xmin host masklen family isfinite grouping`.split(
      /\s+/,
    ),
  ),
  mysql: new Set(
    `${COMMON} ifnull if isnull group_concat date date_format date_add date_sub datediff timediff timestampdiff timestampadd
    from_unixtime unix_timestamp str_to_date curdate curtime utc_timestamp utc_date utc_time year month day dayofmonth
    dayofweek dayofyear dayname monthname hour minute second week weekday quarter last_day time_format sec_to_time
    time_to_sec makedate convert_tz convert adddate subdate addtime to_days field find_in_set elt substring_index locate ucase
    lcase mid space repeat format truncate rand version database schema user current_user session_user system_user
    connection_id json_unquote json_keys json_contains json_length json_search json_table json_arrayagg json_objectagg any_value
    inet_ntoa inet_aton inet6_ntoa bin conv oct crc32 sha2 strcmp found_rows row_count uuid_to_bin bin_to_uuid
    format_bytes format_pico_time sys_format regexp_like regexp_substr regexp_instr regexp_replace unsigned signed
    grouping ascii ord binary bit_count std`.split(/\s+/),
  ),
  sqlite: new Set(
    `${COMMON} ifnull iif group_concat total date time datetime julianday strftime unixepoch timediff typeof printf format unicode
    glob likely unlikely changes last_insert_rowid total_changes sqlite_version sqlite_source_id string_agg unhex zeroblob
    json json_group_array json_group_object json_set json_patch json_error_position generate_series random octet_length
    pragma_table_info pragma_table_xinfo pragma_table_list pragma_index_list pragma_index_info pragma_foreign_key_list
    pragma_database_list pragma_compile_options pragma_function_list pragma_page_count pragma_page_size
    pragma_freelist_count pragma_user_version pragma_integrity_check pragma_quick_check snippet highlight bm25`.split(
      /\s+/,
    ),
  ),
}

/** Settings that may be asked for; with a value in parentheses only where that names what is asked about. */
const PRAGMAS = new Set(
  `database_list user_version schema_version application_id page_count page_size freelist_count encoding journal_mode
  integrity_check quick_check compile_options collation_list function_list module_list pragma_list table_list auto_vacuum
  cache_size synchronous foreign_keys busy_timeout wal_autocheckpoint foreign_key_check`.split(/\s+/),
)
const PRAGMAS_OF = new Set(
  'table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list foreign_key_check'.split(' '),
)

const MYSQL_SHOW =
  /^show (?:(?:full |global |session |extended )*(?:databases|schemas|tables|table status|columns|fields|index|indexes|keys|status|variables|processlist|engines|plugins|privileges|warnings|errors|events|triggers|procedure status|function status|open tables|character set|charset|collation|binary logs|master logs|master status|binary log status|slave status|replica status|all slaves status|slave hosts|replicas|profiles|create (?:table|database|schema|view|procedure|function|trigger|event))|engine innodb (?:status|mutex))(?= |$)/

function tokens(dialect: SqlDialect, text: string): Token[] {
  if (/[\x00-\x08\x0b-\x1f\x7f]/.test(text)) throw new Refused(NOT_UNDERSTOOD)
  const out: Token[] = []
  let i = 0
  while (i < text.length) {
    const c = text[i] as string
    if (c === ' ' || c === '\t' || c === '\n') {
      i++
      continue
    }
    if (c === "'" || c === '"' || (c === '`' && dialect !== 'postgres')) {
      const from = ++i
      for (;;) {
        const d = text[i]
        if (d === undefined) throw new Refused(NOT_UNDERSTOOD)
        if (d === '\\' && /^['"`\\]?$/.test(text[i + 1] ?? '')) throw new Refused(NOT_UNDERSTOOD)
        i++
        if (d !== c) continue
        if (text[i] !== c) break
        i++
      }
      const value = text.slice(from, i - 1)
      // Texts side by side are joined, and a letter before one changes how it is read.
      if (/['"`\w$&]/.test(text[i] ?? '')) throw new Refused(NOT_UNDERSTOOD)
      out.push({ kind: c === "'" ? 'text' : 'quoted', text: value })
      continue
    }
    if (/[A-Za-z_]/.test(c)) {
      const from = i
      while (/\w/.test(text[i] ?? '')) i++
      if (/['"`$&@\x80-\uffff]/.test(text[i] ?? '')) throw new Refused(NOT_UNDERSTOOD)
      out.push({ kind: 'word', text: text.slice(from, i).toLowerCase() })
      continue
    }
    if (/[0-9]/.test(c)) {
      const number = /^\d+(?:\.\d*)?(?:[eE][-+]?\d+)?/.exec(text.slice(i, i + 100))?.[0] ?? ''
      i += number.length
      if (number === '' || /[\w.$'"`]/.test(text[i] ?? '')) throw new Refused(NOT_UNDERSTOOD)
      out.push({ kind: 'number', text: number })
      continue
    }
    if (c === '\\' && dialect === 'mysql' && /^\\[Gg](?:[ \t\n;]|$)/.test(text.slice(i, i + 3))) {
      i += 2
      out.push({ kind: 'end', text: ';' })
      continue
    }
    if (c === ';') {
      i++
      out.push({ kind: 'end', text: ';' })
      continue
    }
    // Comments, and what some take for one.
    if (text.startsWith('--', i) || text.startsWith('/*', i) || text.startsWith('*/', i))
      throw new Refused(NOT_UNDERSTOOD)
    const variable =
      dialect === 'mysql' ? /^@@(?:(?:global|session)\.)?[A-Za-z_]\w*/i.exec(text.slice(i, i + 100))?.[0] : undefined
    if (variable !== undefined) {
      i += variable.length
      if (/[\w.'"`(:]/.test(text[i] ?? '')) throw new Refused(NOT_UNDERSTOOD)
      out.push({ kind: 'quoted', text: variable })
      continue
    }
    const sign = SIGNS[dialect].find((one) => text.startsWith(one, i))
    if (sign === undefined) throw new Refused(NOT_UNDERSTOOD)
    i += sign.length
    out.push({ kind: 'sign', text: sign })
  }
  return out
}

const PLAIN_SIGNS = [
  '->>',
  '->',
  '<=',
  '>=',
  '<>',
  '!=',
  '||',
  '(',
  ')',
  ',',
  '.',
  '+',
  '-',
  '*',
  '/',
  '%',
  '<',
  '>',
  '=',
]
const SIGNS: Readonly<Record<SqlDialect, readonly string[]>> = {
  postgres: [
    '::',
    '!~~*',
    '!~~',
    '~~*',
    '~~',
    '!~*',
    '!~',
    '~*',
    '~',
    '#>>',
    '#>',
    '@>',
    '<@',
    '?|',
    '?&',
    '?',
    '[',
    ']',
    ...PLAIN_SIGNS,
  ],
  mysql: ['<=>', '&&', '<<', '>>', '&', '|', ...PLAIN_SIGNS],
  sqlite: ['==', '<<', '>>', '&', '|', ...PLAIN_SIGNS],
}

function split(list: readonly Token[]): readonly (readonly Token[])[] {
  const out: Token[][] = [[]]
  for (const token of list) {
    if (token.kind === 'end') out.push([])
    else out[out.length - 1]?.push(token)
  }
  return out.filter((statement) => statement.length > 0)
}

function judge(dialect: SqlDialect, statement: readonly Token[]): void {
  const [first, second] = statement
  if (!first) return
  // `(select …) union (select …)`
  const start = statement.find(({ text, kind }) => !(kind === 'sign' && text === '('))
  if (start?.kind !== 'word') throw new Refused(NOT_UNDERSTOOD)
  if (statement.some(({ text, kind }) => (kind === 'word' || kind === 'quoted') && SECRET.test(text)))
    throw new Refused(SECRETS)
  switch (start.text) {
    case 'select':
    case 'values':
      query(dialect, statement, 0)
      return
    case 'with':
      if (start !== first) throw new Refused(NOT_UNDERSTOOD)
      query(dialect, statement, 0)
      return
    case 'table':
      if (dialect === 'sqlite' || start !== first) throw new Refused(NOT_UNDERSTOOD)
      query(dialect, statement, 1)
      return
    case 'explain':
      if (start !== first) throw new Refused(NOT_UNDERSTOOD)
      explain(dialect, statement)
      return
    case 'describe':
    case 'desc':
      if (dialect !== 'mysql' || start !== first) throw new Refused(NOT_UNDERSTOOD)
      if (/^(?:select|format|extended)$/.test(second?.text ?? '')) explain(dialect, statement)
      else names(statement, 1, 4)
      return
    case 'show':
      if (start !== first) throw new Refused(NOT_UNDERSTOOD)
      show(dialect, statement)
      return
    case 'use':
      // The database that holds the accounts is another matter.
      if (dialect !== 'mysql' || second?.text === 'mysql') throw new Refused(WRITES)
      names(statement, 1, 1)
      return
    case 'pragma':
      if (dialect !== 'sqlite' || start !== first) throw new Refused(WRITES)
      pragma(statement)
      return
    default:
      throw new Refused(WRITES)
  }
}

/** Only names from here on, as many as may stand there. */
function names(statement: readonly Token[], from: number, most: number): void {
  const rest = statement.slice(from).filter(({ kind, text }) => kind !== 'sign' || text !== '.')
  if (rest.length === 0 || rest.length > most) throw new Refused(NOT_UNDERSTOOD)
  for (const { kind, text } of rest)
    if ((kind !== 'word' && kind !== 'quoted' && kind !== 'text') || FORBIDDEN.has(text))
      throw new Refused(NOT_UNDERSTOOD)
  accounts(statement)
}

/** The tables of accounts, which hold what proves who one is. */
function accounts(statement: readonly Token[]): void {
  for (let i = 0; i + 2 < statement.length; i++)
    if (
      statement[i]?.text.toLowerCase() === 'mysql' &&
      statement[i + 1]?.text === '.' &&
      /^(?:user|db|servers|global_priv)$/i.test(statement[i + 2]?.text ?? '')
    )
      throw new Refused(SECRETS)
}

function explain(dialect: SqlDialect, statement: readonly Token[]): void {
  let i = 1
  const at = (): string =>
    statement[i]?.kind === 'text' || statement[i]?.kind === 'quoted' ? '' : (statement[i]?.text ?? '')
  if (dialect === 'postgres') {
    if (at() === '(') {
      for (i++; at() !== ')'; i++)
        if (
          !/^(?:analyze|verbose|costs|settings|buffers|wal|timing|summary|format|generic_plan|memory|serialize|on|off|true|false|text|json|xml|yaml|none|,)$/.test(
            at(),
          )
        )
          throw new Refused(NOT_UNDERSTOOD)
      i++
    } else while (at() === 'analyze' || at() === 'verbose') i++
  } else if (dialect === 'sqlite') {
    if (at() === 'query') {
      i++
      if (at() !== 'plan') throw new Refused(NOT_UNDERSTOOD)
      i++
    }
  } else {
    if (at() === 'analyze' || at() === 'extended' || at() === 'partitions') i++
    if (at() === 'format') {
      i++
      if (at() !== '=') throw new Refused(NOT_UNDERSTOOD)
      i++
      if (!/^(?:json|tree|traditional)$/.test(at())) throw new Refused(NOT_UNDERSTOOD)
      i++
    }
    if (i === 1 && statement.length <= 5 && !/^(?:select|with|table|\()$/.test(at())) {
      names(statement, 1, 4)
      return
    }
  }
  // What is explained is a query itself, even where it would not be carried out.
  const inner = statement.slice(i)
  if (!/^(?:select|with|values|\()$/.test(at())) throw new Refused(WRITES)
  judge(dialect, inner)
}

function show(dialect: SqlDialect, statement: readonly Token[]): void {
  if (dialect === 'sqlite') throw new Refused(NOT_UNDERSTOOD)
  if (dialect === 'postgres') {
    // Everything at once also shows how a standby logs in.
    const text = statement.map((token) => token.text).join(' ')
    if (
      /^show (?:[a-z_]+(?: \. [a-z_]+)?|time zone|transaction isolation level|session authorization)$/.test(text) &&
      text !== 'show all'
    )
      return
    throw new Refused(NOT_UNDERSTOOD)
  }
  const words: string[] = []
  for (const { kind, text } of statement) {
    if (kind !== 'word') break
    words.push(text)
  }
  const head = MYSQL_SHOW.exec(words.join(' '))?.[0]
  if (head === undefined) throw new Refused(NOT_UNDERSTOOD)
  query(dialect, statement, head.split(' ').length)
}

function pragma(statement: readonly Token[]): void {
  const shape = statement
    .slice(1)
    .map(({ kind, text }) => (kind === 'sign' ? text : kind === 'word' ? 'w' : 'q'))
    .join('')
  const schema = /^[wq]\.w/.test(shape) ? 2 : 0
  const name = statement[1 + schema]?.text ?? ''
  const rest = shape.slice(schema)
  if (rest === 'w' && PRAGMAS.has(name)) return
  if (/^w\([wq]\)$/.test(rest) && PRAGMAS_OF.has(name)) return
  throw new Refused(WRITES)
}

/** Among all settings is how a standby logs in: which of them are meant has to be said. */
function asksForSettings(statement: readonly Token[]): boolean {
  const texts = statement.filter(({ kind }) => kind === 'text').map(({ text }) => text)
  return (
    statement.some(({ kind, text }) => kind === 'word' && text === 'where') &&
    texts.length > 0 &&
    texts.every((text) => /^%?[a-z_]{3,}/.test(text) && !/conn|info|prim|pass|ssl|krb|command/.test(text))
  )
}

/** The words of a query: none that writes, and only calls that are known. */
function query(dialect: SqlDialect, statement: readonly Token[], from: number): void {
  let depth = 0
  for (let i = from; i < statement.length; i++) {
    const { kind, text } = statement[i] as Token
    const before = statement[i - 1]
    const after = statement[i + 1]
    if (kind === 'sign') {
      if (text === '(' || text === '[') depth++
      else if (text === ')' || text === ']') depth--
      if (depth < 0) throw new Refused(NOT_UNDERSTOOD)
      continue
    }
    const opens = after?.kind === 'sign' && after.text === '('
    if (kind === 'quoted' && text === 'pg_settings') throw new Refused(SECRETS)
    if (kind === 'quoted' || kind === 'text') {
      // SQLite takes either for the name of a table.
      if (opens) throw new Refused(CALLS)
      if (FILE_TABLES.test(text.toLowerCase())) throw new Refused(CALLS)
      continue
    }
    if (kind !== 'word') continue
    if (FILE_TABLES.test(text)) throw new Refused(CALLS)
    // `replace(…)`, `truncate(…)` and `repeat(…)` are functions, without parentheses they are not.
    const known = FUNCTIONS[dialect].has(text)
    if (FORBIDDEN.has(text) && !(opens && known)) throw new Refused(WRITES)
    if (text === 'replace' && !opens) throw new Refused(WRITES)
    // A lock on the rows, or the next value of a sequence.
    if (text === 'for' && /^(?:update|share|key|no)$/.test(after?.text ?? '')) throw new Refused(WRITES)
    if (text === 'next' && after?.text === 'value') throw new Refused(WRITES)
    if (text === 'pg_settings' && !asksForSettings(statement)) throw new Refused(SECRETS)
    if (!opens || BEFORE_PARENTHESIS.has(text)) continue
    if (before?.kind === 'word' && /^(?:as|with|recursive)$/.test(before.text)) continue
    if (!known) throw new Refused(CALLS)
    if (before?.kind === 'sign' && before.text === '.' && statement[i - 2]?.text !== 'pg_catalog')
      throw new Refused(CALLS)
  }
  if (depth !== 0) throw new Refused(NOT_UNDERSTOOD)
  accounts(statement)
}
