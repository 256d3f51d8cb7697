/**
 * What counts as a secret. Every pattern is written so that it cannot back-track far: repeated classes are bounded or followed by
 * something the class does not contain. `value` is the named group that is replaced; without one the whole match is.
 */
export interface SecretPattern {
  readonly kind: string
  readonly pattern: RegExp
  /** A cheap sign that the pattern could match at all; most lines have none. */
  readonly sign: RegExp | null
  /** Looks once more at what was found; false keeps it. */
  readonly real?: (value: string) => boolean
  /** The value is a list that has `;` in it by its nature, and the pattern sees to it that it is no command. */
  readonly list?: true
}

/** A value as it stands behind `=` or an option: quoted, or up to a blank or a separator of the shell or of a list. */
const VALUE = String.raw`(?:"(?<d>[^"\n]{1,2000})"|'(?<s>[^'\n]{1,2000})'|(?<p>[^\s"'<>|;&(){}$,\x60‹›-][^\s"'<>|;&(){},\x60‹›]{0,2000}))`

/** Names that say that their value is secret. */
const SECRET_NAME =
  '(?:pass(?:word|wd|phrase|code)?|pwd|pw|passwort|psk|secret|token|api[-_]?key|(?:secret[-_]?)?access[-_]?key|private[-_]?key|secret[-_]?key|encryption[-_]?key|signing[-_]?key|auth[-_]?key|master[-_]?key|account[-_]?key|shared[-_]?key|client[-_]?secret|credentials?|auth[-_]?token|(?:identity|registry)token|(?:bind|root)pw|requirepass|masterauth|bearer)'

/** The same where words are written together with capitals: `SecretAccessKey`, `dbPassword`. */
const CAMEL_NAME =
  '(?:Password|Passwd|Passphrase|Passcode|Pwd|Secret|Token|ApiKey|APIKey|AccessKey|PrivateKey|SecretKey|AccountKey|SharedKey|SharedAccessSignature|EncryptionKey|SigningKey|MasterKey|Credentials?|AccessKeyId)'

/** Options in which `pass` is written together with what it is for; not `--bypass`. */
const JOINED_PASS =
  '(?:store|key|srcstore|deststore|srckey|destkey|db|admin|root|user|bind|smtp|http|ftp|proxy|mysql|redis|mongo|vault|wifi|new|old|ssh|sudo|become|cert|pem)(?:pass(?:word|wd|phrase)?|pw)'

/** One further word of a command line. */
const WORD = String.raw`(?:\s{1,4}[^\s|;&‹]{1,200})`

/** A value behind an option of a tool: as in `VALUE`, with more characters where no quotes are. */
const ARGUMENT = String.raw`(?:"(?<d>[^"\n‹]{1,500})"|'(?<s>[^'\n‹]{1,500})'|(?<p>[^\s"'|;&<>‹]{1,500}))`

/** What programs print about a secret without telling it. */
const STATES =
  'missing|invalid|valid|expired|absent|present|set|unset|empty|ok|okay|failed|failure|success|changed|unchanged|found|unknown|incorrect|wrong|denied|rejected|accepted|revoked|refreshed|received|generated|created|deleted|removed|updated|rotated|hidden|redacted|masked|needed|given|provided|configured|available|unavailable|active|inactive|ignored|skipped|never|locked|unlocked|protected|mismatch|policy|reset|manager|authentication|login|string|number|boolean|bool|int|str|bytes|object|any|unknown|void|must|cannot|is|was|for|the|has|not'

/** Values that stand in such places without being secret: nothing, switches, numbers, types and calls of a program, references to where the secret is kept. */
const HARMLESS = new RegExp(
  String.raw`^(?:|${STATES}|true|false|yes|no|on|off|none|null|nil|undefined|required|optional|enabled|disabled|prompt|ask|stdin|file|env|auto|default|\*+|x+|<.*|\.\.\.|…|-|\d{1,4}|/[a-z][\w.-]*(?:/[\w.@%+-]*)*|(?:\.\.?/|~/|\$|%|@|\{\{|env:|file:|vault:|op://).*|[A-Za-z_$][\w$]*(?:\.[\w$]+)*\([^()]*\).*|\[?redacted.*|‹redacted.*)$`,
  'i',
)

/**
 * False for what stands in the place of a secret without being one. A substitution is never hidden: it is a part of the command
 * that whoever approves it has to see.
 */
export function realValue(value: string): boolean {
  return !HARMLESS.test(value) && !/\$[({]|\x60/.test(value)
}

/** False for cookies that hold nothing, and for those that a substitution makes. */
function realCookies(value: string): boolean {
  return (
    !/\$[({]|\x60/.test(value) && value.split(';').some((pair) => realValue(pair.slice(pair.indexOf('=') + 1).trim()))
  )
}

/** Random-looking: letters and digits mixed, not a word. */
function mixed(value: string): boolean {
  return /[0-9]/.test(value) && /[A-Za-z]/.test(value)
}

export const PATTERNS: readonly SecretPattern[] = [
  {
    kind: 'token',
    sign: /gh[opsur]_|github_pat_|glpat-|gl(?:ptt|rt|dt|cbt|soat|ft|agent|imt)-|xox[abeoprs]-|xapp-|npm_|pypi-|dop_v1_|doo_v1_|dor_v1_|tskey-|hvs\.|hvb\.|shpat_|shpss_|lin_api_|ATATT|sq0|AIza|ya29\.|SG\.|key-|pat_|rk_live|sk_|pk_|rk_|whsec_|sk-|r8_|hf_|gsk_|xai-|nvapi-|glc_|glsa_|dckr_pat_|ATCTT|EAAC|figd_|PMAK-|dapi|GOCSPX|ops_ey|phc_|sntry[su]_|rubygems_|AGE-SECRET|AKIA|ASIA|ABIA|ACCA/,
    pattern:
      /(?<![A-Za-z0-9_-])(?:gh[opsur]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|gl(?:pat|ptt|rt|dt|cbt|soat|ft|agent|imt)-[A-Za-z0-9_.-]{16,255}|xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-[A-Za-z0-9-]{10,255}|npm_[A-Za-z0-9]{30,64}|pypi-[A-Za-z0-9_-]{40,500}|do[por]_v1_[a-f0-9]{40,128}|tskey-[a-z]{2,16}-[A-Za-z0-9-]{10,128}|hv[sb]\.[A-Za-z0-9_-]{20,500}|shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32,64}|lin_api_[A-Za-z0-9]{30,64}|AT(?:ATT|CTT)[A-Za-z0-9_=-]{30,500}|sq0[a-z]{3}-[A-Za-z0-9_-]{20,64}|AIza[A-Za-z0-9_-]{30,40}|ya29\.[A-Za-z0-9_-]{20,500}|SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/=]{20,128}|sk-(?:ant-|or-|proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,255}|r8_[A-Za-z0-9]{30,64}|hf_[A-Za-z0-9]{30,64}|gsk_[A-Za-z0-9]{30,80}|xai-[A-Za-z0-9]{30,128}|nvapi-[A-Za-z0-9_-]{30,128}|gl(?:c|sa)_[A-Za-z0-9_+/=]{20,255}|dckr_pat_[A-Za-z0-9_-]{20,64}|figd_[A-Za-z0-9_-]{20,64}|PMAK-[A-Za-z0-9-]{20,80}|dapi[a-f0-9]{32}|key-[a-f0-9]{32}|GOCSPX-[A-Za-z0-9_-]{20,40}|ops_ey[A-Za-z0-9_-]{40,2000}|sntry[su]_[A-Za-z0-9_=+/-]{30,500}|rubygems_[a-f0-9]{40,64})(?![A-Za-z0-9])/g,
    real: (value) => !/^sk-/.test(value) || mixed(value.slice(3)),
  },
  {
    kind: 'age key',
    sign: /AGE-SECRET-KEY-|AGE-PLUGIN-/,
    pattern: /AGE-(?:SECRET-KEY|PLUGIN-[A-Z0-9]{1,20})-[A-Z0-9]{20,120}/g,
  },
  {
    kind: 'aws key id',
    sign: /A(?:KIA|SIA|BIA|CCA)/,
    pattern: /(?<![A-Z0-9])A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Z0-9])/g,
  },
  {
    kind: 'jwt',
    sign: /eyJ/,
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{4,8000}\.[A-Za-z0-9_-]{8,2000}/g,
  },
  {
    kind: 'proxmox token',
    sign: /PVE(?:API|Auth|MFA)|PBSAPI/,
    pattern: /P(?:VE|BS)APIToken=[^\s"'=:!]{1,100}(?:!|%21)[^\s"'=:]{1,100}[=:](?<value>[0-9a-fA-F-]{32,36})/g,
  },
  {
    kind: 'proxmox ticket',
    sign: /PVEAuthCookie|CSRFPreventionToken/,
    pattern: /(?:PVEAuthCookie=|CSRFPreventionToken["']?\s{0,3}[:=]\s{0,3}["']?)(?<value>[^\s"';,‹]{8,2000})/g,
  },
  {
    kind: 'credentials',
    sign: /authorization|x-api-key|x-auth-token|x-vault-token|private-token|job-token|x-.{0,30}(?:key|token)\s?:/i,
    pattern:
      /(?:authorization|proxy-authorization)["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256)\s{1,3})?(?<value>[^\s"'‹,;][^\s"'‹]{3,4000})/gi,
    real: (value) => !/^(?:bearer|basic|token|digest|negotiate|\$)/i.test(value) && realValue(value),
  },
  {
    kind: 'credentials',
    sign: /x-|-token|-key/i,
    pattern:
      /(?<![A-Za-z0-9])(?:x-[a-z0-9-]{0,30}(?:key|token|secret|password)|(?:private|job|deploy|vault|auth|access)-token|api-?key)["']?\s{0,3}:\s{0,3}["']?(?<value>[^\s"'‹,;]{6,4000})/gi,
    real: realValue,
  },
  {
    kind: 'credentials',
    sign: /(?:bearer|basic)\s/i,
    pattern: /(?<![A-Za-z])(?:bearer|basic)\s{1,3}(?<value>[A-Za-z0-9+/_~.-]{12,4000}={0,2})/gi,
    real: (value) => mixed(value) || (/[A-Z]/.test(value.slice(1)) && /[a-z]/.test(value)),
  },
  {
    kind: 'password',
    sign: /:\/\//,
    // The user may be empty; `host:port` has no `@`, and a path never comes before it.
    pattern: /[A-Za-z][A-Za-z0-9+.-]{1,30}:\/\/[^\s/:@"'<>‹]{0,200}:(?<value>[^\s/@"'<>‹]{1,500})@/g,
    real: (value) => !/^[$‹]|\$[({]|\x60|^(?:\*+|x{3,})$/.test(value),
  },
  {
    kind: 'token',
    sign: /hooks\.slack\.com|discord(?:app)?\.com\/api\/webhooks|webhook\.office\.com|api\.telegram\.org/,
    pattern:
      /(?:hooks\.slack\.com\/(?:services|workflows)\/|discord(?:app)?\.com\/api\/webhooks\/|api\.telegram\.org\/(?:file\/)?bot)(?<value>[A-Za-z0-9_:/-]{20,300})/g,
  },
  {
    kind: 'password',
    sign: /[?&](?:[a-z_-]*(?:pass|token|secret|key|sig|auth|code|pwd))/i,
    pattern:
      /[?&](?:[A-Za-z_-]{0,30}(?:password|passwd|pwd|token|secret|api[-_]?key|apikey|access[-_]?key|signature|sig|auth|client_secret|x-amz-signature|x-amz-credential))=(?<value>[^\s&"'<>#‹]{4,2000})/gi,
    real: realValue,
  },
  {
    kind: 'password',
    sign: /--?[a-z]/i,
    pattern: new RegExp(
      String.raw`(?<![A-Za-z0-9-])--?(?:[a-z0-9]{1,20}-){0,3}(?:pass(?:word|wd|phrase)?|passwort|pwd|${JOINED_PASS}|secret|token|api-?key|access-?key|secret-?key|private-?key-?pass(?:word)?|auth-?key|client-?secret|credentials?|from-literal=[\w.-]{1,60})(?:=|\s{1,4})` +
        VALUE,
      'gi',
    ),
    real: (value) => realValue(value) && !value.startsWith('-'),
  },
  {
    kind: 'password',
    sign: /(?:mysql|mariadb|mysqldump|mysqladmin|mysqlimport|mysqlcheck|mongo|mongosh|mongodump|sshpass|7z|7za|7zz|zip|unzip|smbclient|docker|podman|skopeo|redis-cli|ldap[a-z]+|ipmitool|rar|unrar)\s/,
    pattern:
      /(?<![\w/.-])(?:(?:mysql|mariadb|mysqldump|mysqladmin|mysqlimport|mysqlcheck|mariadb-dump|7z|7za|7zz|rar|unrar)(?:\s{1,4}[^\s|;&‹]{1,200}){0,12}?\s{1,4}-p|(?:sshpass|mongo|mongosh|mongodump|mongorestore)(?:\s{1,4}[^\s|;&‹]{1,200}){0,12}?\s{1,4}-p\s{0,4}|(?:zip|unzip)(?:\s{1,4}[^\s|;&‹]{1,200}){0,8}?\s{1,4}-P\s{0,4}|(?:docker|podman|skopeo)\s{1,4}login(?:\s{1,4}[^\s|;&‹]{1,200}){0,8}?\s{1,4}-p\s{1,4}|redis-cli(?:\s{1,4}[^\s|;&‹]{1,200}){0,8}?\s{1,4}-a\s{1,4}|ldap(?:search|modify|add|delete|whoami|passwd|modrdn|compare)(?:\s{1,4}[^\s|;&‹]{1,200}){0,12}?\s{1,4}-w\s{0,4}|ipmitool(?:\s{1,4}[^\s|;&‹]{1,200}){0,12}?\s{1,4}-P\s{0,4})(?:"(?<d>[^"\n]{1,500})"|'(?<s>[^'\n]{1,500})'|(?<p>[^\s"'|;&<>‹]{1,500}))/g,
    real: realValue,
  },
  {
    kind: 'password',
    sign: /curl|wget|http/,
    pattern:
      /(?<![\w/.-])curl(?:\s{1,4}[^\s|;&‹]{1,500}){0,15}?\s{1,4}(?:-u|--user|-U|--proxy-user)[\s=]{0,4}["']?[^\s:"'‹|;&]{1,100}:(?<value>[^\s"'‹|;&]{1,500})/g,
    real: (value) => !/^(?:\$|\/\/)|\$[({]|\x60/.test(value),
  },
  {
    kind: 'password',
    sign: /identified|password\s+'|password\s+"/i,
    pattern:
      /(?:identified\s{1,4}(?:with\s{1,4}[\w'"]{1,60}\s{1,4})?by|password)\s{1,4}(?:'(?<s>[^'\n‹]{1,500})'|"(?<d>[^"\n‹]{1,500})")/gi,
    real: realValue,
  },
  {
    kind: 'password',
    sign: /chpasswd|passwd/,
    pattern:
      /(?<![\w-])(?:echo|printf)\s{1,4}(?:-\w{1,3}\s{1,4})?["']?[\w.-]{1,40}:(?<value>[^\s"'|‹]{1,200})(?:\\n)?["']?\s{0,4}\|\s{0,4}(?:sudo\s{1,4})?chpasswd/g,
  },
  {
    kind: 'secret',
    sign: /["'][\w.-]{0,40}(?:pass|pwd|pw|psk|secret|token|key|credential|auth|bearer)[\w.-]{0,20}["']\]?\s{0,3}[:=]/i,
    pattern: new RegExp(
      String.raw`["'](?:[\w.-]{0,40}[_.-])?${SECRET_NAME}(?:[_-]?(?:value|text|data|hash))?["']\]?\s{0,3}(?::|=>?)\s{0,3}(?:"(?<d>(?:[^"\\\n‹]|\\.){1,4000})"|'(?<s>[^'\n‹]{1,4000})')`,
      'gi',
    ),
    real: realValue,
  },
  {
    kind: 'secret',
    sign: /["'][A-Za-z][A-Za-z0-9]{0,60}["']\]?\s{0,3}[:=]/,
    pattern: new RegExp(
      String.raw`["'][A-Za-z][A-Za-z0-9]{0,40}${CAMEL_NAME}["']\]?\s{0,3}(?::|=>?)\s{0,3}(?:"(?<d>(?:[^"\\\n‹]|\\.){1,4000})"|'(?<s>[^'\n‹]{1,4000})')`,
      'g',
    ),
    real: realValue,
  },
  {
    kind: 'secret',
    sign: /=/,
    // Assignments: PGPASSWORD=…, DB_TOKEN=…, STRIPE_KEY=…; not KEYBOARD=, PATH=, TOKEN_TTL=.
    pattern: new RegExp(
      '(?<![A-Za-z0-9_-])(?:(?:[A-Za-z][A-Za-z0-9]{0,30}_){0,6}(?:PASS(?:WORD|WD|PHRASE)?|PWD|SECRET|TOKEN|API_?KEY|APIKEY|(?:ACCESS|PRIVATE|SECRET|ENCRYPTION|SIGNING|AUTH|MASTER|SERVICE|LICENSE|ACCOUNT|STORAGE|SHARED|CLIENT)_?KEY|CREDENTIALS?|AUTH_?TOKEN|ACCESS_?TOKEN|DSN_PASSWORD)|PGPASSWORD|MYSQL_PWD|SSHPASS|RESTIC_PASSWORD|BORG_PASSPHRASE|REDISCLI_AUTH|[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){0,6}_KEY|[A-Z0-9]{2,30}(?:PASSWORD|TOKEN|SECRET))=' +
        VALUE,
      'g',
    ),
    real: (value) => realValue(value),
  },
  {
    kind: 'secret',
    sign: /=|:/,
    pattern: new RegExp(
      String.raw`(?<![A-Za-z0-9_.-])_{0,2}(?:[a-z][a-z0-9]{0,30}[_.-]){0,5}(?:password|passwd|passphrase|passwort|pass|pwd|psk|sharedaccesssignature|secret|token|api[-_]?key|apikey|access[-_]?key|secret[-_]?key|private[-_]?key|secret[-_]?access[-_]?key|client[-_]?secret|auth[-_]?token|access[-_]?token|refresh[-_]?token|cipassword)\s{0,3}=(?![=>~])\s{0,3}` +
        VALUE +
        // `token = parser.next()` is a program, not a password.
        '(?![\\w(.])',
      'gi',
    ),
    real: realValue,
  },
  {
    kind: 'secret',
    sign: /:\s/,
    // YAML and what programs print: `password: hunter2`; a sentence behind the colon is no secret.
    pattern:
      /(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9]{0,30}[_.-]){0,5}(?:password|passwd|passphrase|passwort|requirepass|masterauth|(?<=[_.-])(?:pass|pwd|pw|psk)|secret|secret[-_]?key|api[-_]?key|apikey|access[-_]?key|private[-_ ]?key|client[-_]?secret|auth[-_]?token|access[-_]?token|refresh[-_]?token|token)\s{0,2}:\s{1,3}(?:"(?<d>[^"\n‹]{1,2000})"|'(?<s>[^'\n‹]{1,2000})'|(?<p>[^\s"'‹,]{4,2000}))(?=\s*(?:$|[\n,}#]))/gim,
    real: realValue,
  },
  {
    kind: 'password',
    sign: /machine\s/,
    pattern: /machine\s{1,3}\S{1,200}\s{1,3}login\s{1,3}\S{1,200}\s{1,3}password\s{1,3}(?<value>[^\s‹]{1,500})/g,
  },
  {
    kind: 'password hash',
    sign: /\$[0-9a-z]{1,10}\$/,
    pattern:
      /(?<![\w$])\$(?:1|2[abxy]?|5|6|7|y|gy|sha1|argon2(?:id?|d)|scrypt|apr1|pbkdf2[a-z0-9-]{0,12})\$[A-Za-z0-9./$=,+-]{16,300}/g,
  },
  {
    kind: 'wireguard key',
    sign: /(?:Private|Preshared)Key|private key:|preshared key:/,
    pattern: /(?:PrivateKey|PresharedKey|private key:|preshared key:)\s{0,3}=?\s{0,3}(?<value>[A-Za-z0-9+/]{42,43}=)/g,
  },
  {
    kind: 'cookie',
    sign: /cookie/i,
    // In quotes, as an option or in JSON: all cookies up to the closing quote.
    pattern:
      /["'](?:set-)?cookie(?:["']\s{0,3}(?::|=>?)\s{0,3}\[?\s{0,3}["']|:\s{0,3})(?<value>[^\s"'=;‹]{1,100}=[^"'\n‹]{1,4000})/gi,
    real: realCookies,
  },
  {
    kind: 'cookie',
    sign: /cookie:/i,
    // The headers of an answer, a line each.
    pattern:
      /^[\t <>*]{0,8}(?:set-)?cookie:\s{0,3}(?<value>[^\s"'=;‹]{1,100}=[^\s;‹]{1,4000}(?:;\s?[^\s"'=;‹]{1,100}=[^\s;‹]{0,4000}){0,100})(?=;?\s*$|;\s)/gim,
    real: (value) =>
      realCookies(value) && !/(?:^|;\s?)(?:PATH|ENV|IFS|PS4|(?:LD|DYLD|BASH|GIT|PYTHON|NODE|PERL)\w*)=/.test(value),
    list: true,
  },
  {
    kind: 'cookie',
    sign: /cookie:/i,
    pattern: /(?<![A-Za-z0-9-])(?:set-)?cookie:\s{0,3}(?<value>[^\s"'=;|&<>(){}‹]{1,100}=[^\s"'|;&<>(){}‹]{1,4000})/gi,
    real: realCookies,
  },
  {
    kind: 'cookie',
    sign: /curl/,
    pattern:
      /(?<![\w/.-])curl(?:\s{1,4}[^\s|;&‹]{1,500}){0,15}?\s{1,4}(?:-b\s{0,4}|--cookie[\s=]{1,4})(?:"(?<d>[^"\n=‹]{1,100}=[^"\n‹]{1,2000})"|'(?<s>[^'\n=‹]{1,100}=[^'\n‹]{1,2000})'|(?<p>[^\s"'=|;&<>(){}‹]{1,100}=[^\s"'|;&<>(){}‹]{1,2000}))/g,
    real: realCookies,
  },
  {
    kind: 'token',
    sign: /:AA/,
    // A Telegram bot.
    pattern: /(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{30,40}(?![A-Za-z0-9_-])/g,
  },
  {
    kind: 'credentials',
    sign: /["']?_?auth["']?\s{0,3}[:=]/,
    // Logins of container registries and npm: base64 of `user:password`.
    pattern:
      /(?:["']auth["']\s{0,3}:\s{0,3}["']|(?<![A-Za-z0-9])_auth\s{0,3}=\s{0,3}["']?)(?<value>[A-Za-z0-9+/]{8,4000}={0,2})(?![A-Za-z0-9+/=])/g,
    real: (value) => /^[\x20-\x7e]{1,200}:[\x20-\x7e]{1,2000}$/.test(Buffer.from(value, 'base64').toString('latin1')),
  },
  {
    kind: 'secret',
    sign: /\\["']/,
    // JSON inside of JSON.
    pattern: new RegExp(
      String.raw`\\"(?:(?:[\w.-]{0,40}[_.-])?${SECRET_NAME}|[A-Za-z]{0,40}(?:Password|PASSWORD|Secret|Token|AccessKey|ApiKey|PrivateKey))\\"\s{0,3}:\s{0,3}\\"(?<value>[^"\\\n‹]{1,2000})\\"`,
      'gi',
    ),
    real: realValue,
  },
  {
    kind: 'secret',
    sign: /(?:define|putenv|setenv|getenv|environ)/i,
    pattern: new RegExp(
      String.raw`(?:define|setenv|putenv)\(\s{0,3}["'](?:[\w.-]{0,40}[_.-])?${SECRET_NAME}["']\s{0,3},\s{0,3}(?:"(?<d>[^"\n‹]{1,2000})"|'(?<s>[^'\n‹]{1,2000})')`,
      'gi',
    ),
    real: realValue,
  },
  {
    kind: 'secret',
    sign: /<[\w.:-]{1,80}[^<>\n]{0,100}>/,
    // XML: `<password>…</password>`, `<db:adminPassword enc="no">…`.
    pattern: new RegExp(
      String.raw`<(?:[\w.:-]{0,40}[_.:-])?(?:${SECRET_NAME}|[a-z0-9]{0,40}(?:password|passwd|passphrase|secret|token|apikey|accesskey|privatekey|secretkey))(?:\s[^<>\n]{0,100})?>(?:<!\[CDATA\[)?(?<value>[^<>\n‹]{1,2000})(?=\]\]>|<\/)`,
      'gi',
    ),
    real: (value) => realValue(value.trim()),
  },
  {
    kind: 'secret',
    sign: /<key>/i,
    pattern: new RegExp(
      String.raw`<key>[\w .-]{0,40}${SECRET_NAME}<\/key>\s{0,40}<string>(?<value>[^<>\n‹]{1,2000})(?=<\/)`,
      'gi',
    ),
    real: realValue,
  },
  {
    kind: 'secret',
    sign: /\b(?:name|key|id)=["']/i,
    // `<add key="SmtpPassword" value="…"/>`
    pattern: new RegExp(
      String.raw`\b(?:name|key|id)=["'][\w.:-]{0,40}${SECRET_NAME}["']\s{1,4}(?:type=["']\w{1,20}["']\s{1,4})?value=(?:"(?<d>[^"\n‹]{1,2000})"|'(?<s>[^'\n‹]{1,2000})')`,
      'gi',
    ),
    real: realValue,
  },
  {
    kind: 'secret',
    sign: /[a-z](?:Password|Passwd|Passphrase|Pwd|Secret|Token|Key|Credentials?)=/,
    // Connection strings and properties: `AccountKey=…;`, `jdbcPassword=…`.
    pattern: new RegExp(
      String.raw`(?<![A-Za-z0-9_.-])(?:[A-Za-z][A-Za-z0-9_.-]{0,40})?${CAMEL_NAME}=${VALUE}(?![\w(.])`,
      'g',
    ),
    real: realValue,
  },
  {
    kind: 'password',
    sign: /^\s*(?:requirepass|masterauth|password|passphrase|psk|rootpw|bindpw|secret|pass|auth_pass|rocommunity|rwcommunity)\s/im,
    // A line of a settings file: a word, its value, nothing else.
    pattern:
      /^[\t ]{0,40}(?:(?:requirepass|masterauth|password|passphrase|psk|rootpw|bindpw|auth_pass|rocommunity|rwcommunity)[\t ]{1,40}|(?:secret|pass)[\t ]{1,40}(?=\S{0,200}\d))(?:"(?<d>[^"\n‹]{3,500})"|'(?<s>[^'\n‹]{3,500})'|(?<p>[^\s"'‹›;|&<>(){}`,:=-][^\s"'‹›;|&<>(){}`,]{2,500}))(?=[\t ]{0,40};?\s*(?:#.*)?$)/gim,
    real: realValue,
  },
  {
    kind: 'secret',
    sign: /^\s*(?:-\s+)?(?:pass|pwd|psk|pw|rootpw|bindpw):\s/m,
    // YAML's short names, at the beginning of a line and in small letters: `PASS: test` and `First pass: done` are reports.
    pattern:
      /^[\t ]{0,40}(?:-[\t ]{1,4})?(?:pass|pwd|psk|pw|rootpw|bindpw):[\t ]{1,4}(?:"(?<d>[^"\n‹]{1,500})"|'(?<s>[^'\n‹]{1,500})'|(?<p>[^\s"'‹,]{4,500}))(?=[\t ]{0,40}\r?(?:#.*)?$)/gm,
    real: realValue,
  },
  {
    kind: 'password',
    sign: /smb|rpcclient|winexe|(?:^|\s)net\s/,
    pattern: new RegExp(
      String.raw`(?<![\w/.-])(?:smb[a-z]{1,12}|rpcclient|winexe|net)${WORD}{0,12}?\s{1,4}(?:-U\s{0,4}|--user(?:name)?[\s=]{1,4})(?:"[^"%\n‹]{1,100}%(?<d>[^"\n‹]{1,500})"|'[^'%\n‹]{1,100}%(?<s>[^'\n‹]{1,500})'|[^\s"'%|;&<>‹]{1,100}%(?<p>[^\s"'|;&<>‹]{1,500}))`,
      'g',
    ),
    real: realValue,
  },
  {
    kind: 'password',
    sign: /pass:|-pass(?:in|out)?\s/,
    // openssl: `-passin pass:…`.
    pattern:
      /(?<![\w-])--?pass(?:in|out)?[\s=]{1,4}(?:"pass:(?<d>[^"\n‹]{1,500})"|'pass:(?<s>[^'\n‹]{1,500})'|pass:(?<p>[^\s"'|;&<>‹]{1,500}))/g,
    real: realValue,
  },
  {
    kind: 'password',
    sign: /openssl|sqlcmd|bcp|isql|osql|tsql|mosquitto|plink|pscp|psftp|lftp|ncftp|freerdp|rdesktop|nmcli|ansible|snmp|impacket|ipmi/,
    pattern: new RegExp(
      String.raw`(?<![\w/.-])(?:openssl${WORD}{0,12}?\s{1,4}-[kK]\s{1,4}|(?:sqlcmd|bcp|isql|osql|tsql|mosquitto_(?:pub|sub|rr))${WORD}{0,12}?\s{1,4}-P\s{0,4}|(?:plink|pscp|psftp)${WORD}{0,12}?\s{1,4}-pw\s{1,4}|(?:lftp|ncftp)${WORD}{0,8}?\s{1,4}(?:-u|--user)\s{1,4}[^\s,"'|;&‹]{1,100},|(?:x|wl)freerdp3?${WORD}{0,16}?\s{1,4}/p:|rdesktop${WORD}{0,12}?\s{1,4}-p\s{1,4}|snmp[a-z]{2,12}${WORD}{0,12}?\s{1,4}-[AXc]\s{1,4}|nmcli${WORD}{0,16}?\s{1,4}(?:password|psk|[\w-]{1,60}\.(?:psk|password|leap-password|private-key-password|wep-key\d|pin))\s{1,4})` +
        ARGUMENT,
      'g',
    ),
    real: realValue,
  },
  {
    kind: 'password',
    sign: /htpasswd/,
    // `htpasswd -b file user password`: the last word of the command.
    pattern: new RegExp(
      String.raw`(?<![\w/.-])htpasswd(?=[^\n|;&]{0,200}\s-[A-Za-z]{0,8}b)(?:\s{1,4}[^\s|;&<>‹]{1,200}){2,9}\s{1,4}${ARGUMENT}(?=\s{0,40}(?:$|[\n|;&<>)]))`,
      'g',
    ),
    real: realValue,
  },
  {
    kind: 'password',
    sign: /(?:echo|printf)\s/,
    // A password that is fed to whoever asks for one.
    pattern: new RegExp(
      String.raw`(?<![\w-])(?:echo|printf)\s{1,4}(?:-\w{1,3}\s{1,4})?(?:(?:'%s(?:\\n)?'|"%s(?:\\n)?"|%s(?:\\n)?)\s{1,4})?${ARGUMENT}(?=\s{0,4}\|\s{0,4}(?:[\w./=-]{1,60}\s{1,4}){0,8}?(?:sudo\s(?:[^\n|;&]{0,60}\s)?(?:-[A-Za-z]{0,8}S|--stdin)\b|su\b|passwd\b|smbpasswd\b|kinit\b|cryptsetup\b|[^\n|;&]{0,120}(?:--password-stdin|--passphrase-fd[\s=]0|--with-token|-passin\sstdin|-pass\sstdin)))`,
      'g',
    ),
    real: realValue,
  },
  {
    kind: 'password',
    sign: /<<</,
    pattern: new RegExp(
      String.raw`(?<![\w/.-])(?:sudo\s{1,4}(?:-\w{1,12}\s{1,4}){0,4}?-[A-Za-z]{0,8}S${WORD}{0,12}?|(?:kinit|passwd|smbpasswd|cryptsetup)${WORD}{0,8}?|[\w-]{1,40}${WORD}{1,10}?\s{1,4}(?:--password-stdin|--with-token))\s{0,4}<<<\s{0,4}` +
        ARGUMENT,
      'g',
    ),
    real: realValue,
  },
]
