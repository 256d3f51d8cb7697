import { accessSync, constants } from 'node:fs'
import path from 'node:path'

/** Which Debian package holds a shared library that Electron links against. Names as of Debian 12. */
const packageOfLibrary = {
  'libX11.so.6': 'libx11-6',
  'libX11-xcb.so.1': 'libx11-xcb1',
  'libXcomposite.so.1': 'libxcomposite1',
  'libXdamage.so.1': 'libxdamage1',
  'libXext.so.6': 'libxext6',
  'libXfixes.so.3': 'libxfixes3',
  'libXrandr.so.2': 'libxrandr2',
  'libXss.so.1': 'libxss1',
  'libXtst.so.6': 'libxtst6',
  'libasound.so.2': 'libasound2',
  'libatk-1.0.so.0': 'libatk1.0-0',
  'libatk-bridge-2.0.so.0': 'libatk-bridge2.0-0',
  'libatspi.so.0': 'libatspi2.0-0',
  'libcairo.so.2': 'libcairo2',
  'libcups.so.2': 'libcups2',
  'libdbus-1.so.3': 'libdbus-1-3',
  'libdrm.so.2': 'libdrm2',
  'libexpat.so.1': 'libexpat1',
  'libgbm.so.1': 'libgbm1',
  'libgdk_pixbuf-2.0.so.0': 'libgdk-pixbuf-2.0-0',
  'libgdk-3.so.0': 'libgtk-3-0',
  'libgio-2.0.so.0': 'libglib2.0-0',
  'libglib-2.0.so.0': 'libglib2.0-0',
  'libgobject-2.0.so.0': 'libglib2.0-0',
  'libgtk-3.so.0': 'libgtk-3-0',
  'libnotify.so.4': 'libnotify4',
  'libnspr4.so': 'libnspr4',
  'libnss3.so': 'libnss3',
  'libnssutil3.so': 'libnss3',
  'libpango-1.0.so.0': 'libpango-1.0-0',
  'libpangocairo-1.0.so.0': 'libpangocairo-1.0-0',
  'libsecret-1.so.0': 'libsecret-1-0',
  'libsmime3.so': 'libnss3',
  'libudev.so.1': 'libudev1',
  'libuuid.so.1': 'libuuid1',
  'libxcb.so.1': 'libxcb1',
  'libxcb-dri3.so.0': 'libxcb-dri3-0',
  'libxkbcommon.so.0': 'libxkbcommon0',
}

/** Which Debian package holds a program that set-up or the tests run. */
const packageOfProgram = {
  bwrap: 'bubblewrap',
  busybox: 'busybox',
  dash: 'dash',
  'dbus-launch': 'dbus-x11',
  'dbus-run-session': 'dbus',
  dunst: 'dunst',
  'g++': 'g++',
  ip: 'iproute2',
  make: 'make',
  ps: 'procps',
  python3: 'python3',
  script: 'bsdutils',
  ssh: 'openssh-client',
  sshd: 'openssh-server',
  strace: 'strace',
  tar: 'tar',
  unzip: 'unzip',
  xauth: 'xauth',
  'xvfb-run': 'xvfb',
  Xvfb: 'xvfb',
}

/**
 * The libraries that the output of `ldd` reports as not found.
 * @param {string} output
 * @returns {string[]}
 */
export function missingLibraries(output) {
  const names = [...output.matchAll(/^\s*(\S+)\s+=>\s+not found/gm)].map((match) => match[1])
  return [...new Set(names)]
}

/**
 * The Debian packages for a list of libraries, and those libraries nobody here knows a package for.
 * @param {string[]} libraries
 * @returns {{packages: string[], unknown: string[]}}
 */
export function packagesForLibraries(libraries) {
  const known = libraries.filter((name) => Object.hasOwn(packageOfLibrary, name))
  return {
    packages: [...new Set(known.map((name) => packageOfLibrary[name]))].sort(),
    unknown: libraries.filter((name) => !Object.hasOwn(packageOfLibrary, name)),
  }
}

/** The Debian package of a program; a program we have no name for is named itself. */
export function packageForProgram(program) {
  return Object.hasOwn(packageOfProgram, program) ? packageOfProgram[program] : program
}

/**
 * Those of the programs that are not there. Also looks where Debian keeps programs for root, which an ordinary user's
 * PATH lacks (`sshd`).
 * @param {string[]} programs
 * @param {string} [searchPath]
 * @returns {string[]}
 */
export function missingPrograms(programs, searchPath = process.env.PATH ?? '') {
  const folders = [...searchPath.split(path.delimiter).filter(Boolean), '/usr/sbin', '/sbin']
  return programs.filter((program) => !folders.some((folder) => executable(path.join(folder, program))))
}

function executable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * The one sentence that says what to install.
 * @param {string[]} packages
 */
export function installHint(packages) {
  return `install the Debian packages: sudo apt-get install ${[...new Set(packages)].join(' ')}`
}
