import { version } from '../../../package.json'
import { EXIT } from '../exits'
import { readOptions } from '../options'
import type { Command } from '../program'

/** `nomos version` */
export const versionCommand: Command = async (args, io) => {
  const { options } = readOptions(args, { json: { kind: 'flag' } })
  const facts = { version, node: process.versions.node, platform: process.platform, arch: process.arch }
  io.stdout.write(options.json ? `${JSON.stringify(facts)}\n` : `nomos ${version}\n`)
  return EXIT.done
}
