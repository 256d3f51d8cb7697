/**
 * Variables that change what a command means without being seen on the card: start-up files, preloads, pagers, option
 * variables of tools, anything of Nomos, Electron or Node itself (FACTS: shell parsing; where other gates fail).
 */
const NEVER = [
  /^NOMOS_/,
  /^ELECTRON_/,
  // Set by our own start script for the window alone.
  /^(MESA_SHADER_CACHE_DIR|GSETTINGS_BACKEND)$/,
  /^NODE_(OPTIONS|CHANNEL_FD|PATH|REPL_.*|EXTRA_CA_CERTS)$/,
  /^BASH_(ENV|FUNC_.*|XTRACEFD|COMPAT)/,
  /^(ENV|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|IFS|CDPATH|GLOBIGNORE|POSIXLY_CORRECT)$/,
  /^(LD|DYLD)_/,
  /^GIT_/,
  /PAGER$/,
  /_OPTIONS$/,
  /^(LESS|LESSOPEN|LESSCLOSE|MORE|GREP_COLORS?|LS_COLORS|LV)$/,
  /^(PERL5|RUBY)(OPT|LIB|DB)$/,
  /^PERLLIB$/,
  /^PYTHON(STARTUP|PATH|HOME|INSPECT|BREAKPOINT|WARNINGS)$/,
  /^(EDITOR|VISUAL|BROWSER|SUDO_ASKPASS|SSH_ASKPASS.*|MANOPT|TAR_OPTIONS|RSYNC_RSH|TMOUT)$/,
]

/**
 * All that an automatic run keeps: who and where it is, its language, and which daemon, proxy or account it talks to. A list of what is
 * bad would never be whole: `GCONV_PATH`, `GETCONF_DIR` and `OPENSSL_CONF` load code, `GZIP`, `XZ_OPT` and `RIPGREP_CONFIG_PATH` add
 * options, `APT_CONFIG` and `KUBECTL_EXTERNAL_DIFF` name programs, `SSLKEYLOGFILE` names a file to write.
 */
const KEPT =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|NO_COLOR|XDG_(?:RUNTIME_DIR|(?:CONFIG|DATA|CACHE|STATE)_HOME|(?:CONFIG|DATA)_DIRS|SESSION_(?:ID|TYPE)|CURRENT_DESKTOP)|DBUS_SESSION_BUS_ADDRESS|DISPLAY|WAYLAND_DISPLAY|DOCKER_(?:HOST|CONTEXT)|CONTAINER_HOST|KUBECONFIG|AWS_(?:PROFILE|REGION|DEFAULT_REGION)|CLOUDSDK_ACTIVE_CONFIG_NAME|(?:https?|no|all|HTTPS?|NO|ALL)_(?:proxy|PROXY))$/

/** A value that carries a password (`http://user:password@proxy`) is kept from an automatic run as well. */
const PASSWORD_IN_ADDRESS = /:\/\/[^/@\s]*:[^/@\s]*@/

/** Tells a process, and whoever looks at its ancestors, that it descends from a run: such a process may not answer approvals. */
export const RUN_MARKER = 'EXEC_GATE_RUN'

/** Folders whose programs are the system's own. An automatic run looks for programs here and nowhere else. */
export const SYSTEM_FOLDERS: readonly string[] = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
  '/opt/homebrew/bin',
  '/opt/homebrew/sbin',
  '/snap/bin',
]

/** What is left of the app's own environment for runs; computed once for each kind of run, since it does not change. */
export interface BaseEnvironments {
  readonly automatic: Readonly<Record<string, string>>
  readonly agreed: Readonly<Record<string, string>>
}

/**
 * The environments that runs get: the app's own without what would change a command unseen. An automatic run keeps
 * what it needs and nothing else, and loses every folder on PATH that is not the system's.
 */
export function baseEnvironments(base: Readonly<Record<string, string | undefined>>): BaseEnvironments {
  return { automatic: reduced(base, true), agreed: reduced(base, false) }
}

function reduced(
  base: Readonly<Record<string, string | undefined>>,
  automatic: boolean,
): Readonly<Record<string, string>> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(base)) {
    if (value === undefined || NEVER.some((pattern) => pattern.test(name))) continue
    if (automatic && (!KEPT.test(name) || PASSWORD_IN_ADDRESS.test(value))) continue
    env[name] = value
  }
  // Output goes to a card, not to a terminal: nothing may page, prompt, colour or take a lock.
  Object.assign(env, {
    TERM: 'dumb',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    SYSTEMD_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    [RUN_MARKER]: '1',
  })
  if (automatic) {
    env.PATH = (env.PATH ?? '')
      .split(':')
      .filter((folder) => SYSTEM_FOLDERS.includes(folder))
      .join(':')
    if (env.PATH === '') env.PATH = '/usr/bin:/bin'
    // A repository may name programs in its own settings that a mere `git status` would start.
    Object.assign(env, {
      GIT_OPTIONAL_LOCKS: '0',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: 'false',
      GIT_CONFIG_KEY_1: 'core.hooksPath',
      GIT_CONFIG_VALUE_1: '/dev/null',
      // Git before 2.31 knows only this form of the same.
      GIT_CONFIG_PARAMETERS: "'core.fsmonitor=false' 'core.hooksPath=/dev/null'",
      GIT_ASKPASS: '/bin/false',
      GIT_SSH_COMMAND: '/bin/false',
      GIT_ALLOW_PROTOCOL: 'none',
      // What a project includes from elsewhere is fetched by whatever looks at the project, if only for its containers.
      COMPOSE_EXPERIMENTAL_GIT_REMOTE: 'false',
      COMPOSE_EXPERIMENTAL_OCI_REMOTE: 'false',
    })
  }
  return env
}
