import { SHELLS } from '../shell'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Programs that run a program text or file given to them. Versions in a name (`python3.12`) do not matter. */
const INTERPRETERS: ReadonlySet<string> = new Set(
  words(`
    python pypy ipython node nodejs deno bun tsx ts-node ruby irb perl php lua luajit osascript Rscript R julia elixir iex erl
    escript groovy scala kotlin tclsh wish expect gdb lldb vim vi view nvim emacs ed ex guile racket sbcl clisp ghc runghc
    ocaml swift pwsh powershell cmd octave gnuplot jshell java bc dc m4 awk gawk mawk nawk original-awk parallel source .
    sqlite3 psql mysql mariadb mongosh redis-cli
  `),
)

/** Programs that fetch or start what a project or a registry names. */
const PACKAGE_RUNNERS: ReadonlySet<string> = new Set(
  words(`
    npm npx pnpm pnpx yarn yarnpkg corepack bunx uv uvx pip pipx poetry pipenv conda mamba tox nox cargo go dotnet gradle
    gradlew mvn mvnw ant sbt make gmake just task rake bundle bundler gem composer ninja cmake meson bazel nix nix-shell
    nix-env brew port snap flatpak guix pre-commit direnv nodemon pm2 pytest py.test jest vitest mocha phpunit rspec eslint
    terraform tofu terragrunt pulumi cdk docker-compose podman-compose skaffold
  `),
)

/** Programs whose words are another command, on this machine or elsewhere. */
const WRAPPERS: ReadonlySet<string> = new Set(
  words(`
    sudo sudo-rs doas pkexec run0 su runuser sg env nice ionice nohup setsid timeout stdbuf unbuffer time chrt taskset numactl
    prlimit xargs watch viddy entr command builtin exec eval chroot unshare nsenter setpriv setarch linux32 linux64 capsh flock
    script strace ltrace valgrind perf firejail bwrap proot fakeroot fakechroot faketime cpulimit dbus-run-session dbus-launch
    xvfb-run systemd-run systemd-inhibit systemd-nspawn machinectl ssh autossh mosh rsh sshpass busybox toybox wsl vagrant
    runcon run-parts start-stop-daemon rlwrap eatmydata caffeinate git-shell ansible ansible-playbook tmux screen at batch crontab trap alias nocorrect noglob lvm
  `),
)

/** The name without its folder, `.exe` and version: `/opt/bin/python3.12` is `python`. */
function plainName(program: string): string {
  return program.slice(Math.max(program.lastIndexOf('/'), program.lastIndexOf('\\')) + 1).replace(/\.exe$/i, '')
}

/** The loader itself: `/lib64/ld-linux-x86-64.so.2 /bin/rm` starts the other. */
const LOADER = /^ld(?:64|-linux|-musl)?[A-Za-z0-9_-]*\.so(?:\.[0-9]+)*$/

const unversioned = (name: string): string => name.replace(/(?<=[A-Za-z])-?\d[\d.]*$/, '')

export type Unsuitable = 'shell' | 'interpreter' | 'package runner' | 'git' | 'wrapper'

/**
 * What kind of program this is, when trusting its name would mean trusting whatever it is given to run; null for others. Both the
 * full name and the name without its version are looked at.
 */
export function unsuitable(program: string): Unsuitable | null {
  const full = plainName(program)
  if (LOADER.test(full)) return 'wrapper'
  for (const name of [full, unversioned(full), full.toLowerCase()]) {
    if (SHELLS.has(name)) return 'shell'
    if (name === 'git') return 'git'
    if (INTERPRETERS.has(name)) return 'interpreter'
    if (PACKAGE_RUNNERS.has(name)) return 'package runner'
    if (WRAPPERS.has(name)) return 'wrapper'
  }
  return null
}
