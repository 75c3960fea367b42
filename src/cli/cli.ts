import { parseArgs } from 'node:util'
import type { OperatorEvent } from '../core/audit/audit-trail.ts'
import { auditing } from '../core/audit/auditing.ts'
import { isAppError, messageOf } from '../core/errors.ts'
import type {
  Command,
  CommandArguments,
  CommandCall,
  CommandServices,
  Copies,
  StandaloneCommand,
} from './command.ts'
import { AUDIT } from './commands/audit.ts'
import { DEVICES, GRANTS } from './commands/grants.ts'
import { FILES } from './commands/files.ts'
import { HISTORY } from './commands/history.ts'
import { OPERATIONS } from './commands/operations.ts'
import { OVERVIEW } from './commands/overview.ts'
import { REBUILD } from './commands/rebuild.ts'
import { TOKENS } from './commands/tokens.ts'
import { UPLOADS } from './commands/uploads.ts'
import { WEBHOOKS } from './commands/webhooks.ts'
import { USERS } from './commands/users.ts'
import { printable, render, type Result } from './render.ts'

export interface CliOptions {
  readonly args: readonly string[]
  /** Called only if the command is well-formed. */
  readonly open: (options: { readonly acceptsAnyStore: boolean }) => Promise<CommandServices>
  readonly print: (line: string) => void
  readonly printError: (line: string) => void
  readonly drawLine?: CommandCall['drawLine']
  readonly copies: Copies
  readonly interruption: () => AbortSignal
}

/**
 * Runs one command. Exit codes: 0 done; 1 refused, failed, or done with findings; 2 usage error. Results go to `print`
 * (with `--json` as one document), the rest to `printError`; neither receives terminal control characters.
 */
export async function runCli(options: CliOptions): Promise<0 | 1 | 2> {
  const { args, open, interruption } = options
  const print = (line: string): void => options.print(printable(line))
  const printError = (line: string): void => options.printError(printable(line))
  if (args.length === 0 || args.some(isHelp) || args[0] === 'help') {
    print(helpOn(args))
    return 0
  }
  const call = parseCall(args)
  if (typeof call === 'string') {
    printError(call)
    return 2
  }
  try {
    let exitCode: 0 | 1 = 0
    const fail = (): void => void (exitCode = 1)
    const { command } = call
    const { drawLine, copies } = options
    const given = { ...call, print, printError, drawLine, fail, interruption, copies }
    const result = await ('runAlone' in command
      ? command.runAlone(given)
      : runOn(open, command, given))
    if (result !== undefined) print(call.json ? JSON.stringify(result) : render(result))
    return exitCode
  } catch (error) {
    printError(describe(error))
    return 1
  }
}

async function runOn(
  open: CliOptions['open'],
  command: Command,
  call: CommandCall,
): Promise<Result | undefined> {
  const { acceptsAnyStoreWith: any } = command
  const services = await open({ acceptsAnyStore: any !== undefined && call.switches.has(any) })
  /** What the command has done stands, also if this fails. */
  async function record(event: OperatorEvent): Promise<void> {
    try {
      await services.auditTrail.record(event)
    } catch (error) {
      call.printError(`The audit trail lacks this action. ${describe(error)}`)
    }
  }
  try {
    if (command !== REBUILD) await services.rebuilder.assertFinished()
    return await command.run({ ...services, ...auditing(services, record) }, call)
  } finally {
    await services.close()
  }
}

export function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

const COMMANDS: readonly AnyCommand[] = [
  USERS,
  TOKENS,
  DEVICES,
  GRANTS,
  FILES,
  UPLOADS,
  HISTORY,
  WEBHOOKS,
  OVERVIEW,
  AUDIT,
  OPERATIONS,
].flat()

type AnyCommand = Command | StandaloneCommand

interface Call extends CommandArguments {
  readonly command: AnyCommand
}

/** Returns a message for the user if the call is invalid. */
function parseCall(args: readonly string[]): Call | string {
  const command = commandOf(args)
  if (command === undefined) return unknownCommand(args)
  try {
    const { values, positionals } = parseArgs({
      args: args.slice(command.words.length),
      allowPositionals: true,
      options: optionsOf(command),
    })
    const { least, most } = operandCounts(command)
    const given = Object.entries(values)
    const isComplete = (command.required ?? []).every((flag) => flag in values)
    const isFilled = isComplete && !positionals.includes('')
    if (positionals.length < least || positionals.length > most || !isFilled) {
      return usage(command)
    }
    return {
      command,
      operands: positionals,
      flags: Object.fromEntries(given.filter((flag): flag is [string, string] => !isSwitch(flag))),
      switches: new Set(given.filter(isSwitch).map(([name]) => name)),
      json: values['json'] === true,
    }
  } catch (error) {
    return `${describe(error)}\n${usage(command)}`
  }
}

function commandOf(args: readonly string[]): AnyCommand | undefined {
  return COMMANDS.find(({ words }) => words.every((word, i) => args[i] === word))
}

/** No command has more than two words. Names the commands of the group, or of groups with a similar name. */
function unknownCommand(args: readonly string[]): string {
  const words = args.filter((word) => !word.startsWith('-')).slice(0, 2)
  const [given = ''] = words
  const groupOf = ({ words: [group = ''] }: AnyCommand): string => group
  const isNear = (group: string): boolean =>
    given !== '' && (group.startsWith(given) || given.startsWith(group.replace(/s$/, '')))
  const near = COMMANDS.filter((command) => isNear(groupOf(command)))
  const groups = new Set(['serve', 'doctor', ...COMMANDS.map(groupOf)])
  return [
    `Unknown command "${words.join(' ') || args[0]}".`,
    ...(near.length > 0 ? near.map((command) => usage(command)) : [[...groups].join(', ')]),
    '"cloud-repo --help" describes all commands.',
  ].join('\n')
}

function optionsOf({ flags = [], switches = [] }: AnyCommand) {
  const options: Record<string, { readonly type: 'string' | 'boolean' }> = {}
  for (const flag of flags) options[flag] = { type: 'string' }
  for (const name of ['json', ...switches]) options[name] = { type: 'boolean' }
  return options
}

function isSwitch([, value]: readonly [string, unknown]): boolean {
  return value === true
}

function operandCounts({ operands = [] }: AnyCommand): { least: number; most: number } {
  const optional = operands.filter((operand) => operand.startsWith('['))
  return { least: operands.length - optional.length, most: operands.length }
}

function helpOn(args: readonly string[]): string {
  const command = commandOf(args[0] === 'help' ? args.slice(1) : args)
  return command === undefined ? help() : `${usage(command)}\n\n${command.summary}`
}

function help(): string {
  return [
    helpLine('serve', 'run the service'),
    helpLine('doctor', 'check settings, database, object store, identity provider and webhooks'),
    ...COMMANDS.map((command) => helpLine(lineOf(command), command.summary)),
    '',
    'Every command except serve accepts --json. --version prints the version.',
    'Settings are environment variables; docs/configuration.md lists them.',
  ].join('\n')
}

const CALL_WIDTH = 40

function helpLine(line: string, summary: string): string {
  const call = `cloud-repo ${line}`.padEnd(CALL_WIDTH)
  return call.length === CALL_WIDTH && call.endsWith(' ')
    ? `${call}${summary}`
    : `${call}\n${' '.repeat(CALL_WIDTH)}${summary}`
}

function usage(command: AnyCommand): string {
  return `usage: cloud-repo ${lineOf(command)}`
}

function lineOf(command: AnyCommand): string {
  const { words, operands = [], flags = [], switches = [], required = [] } = command
  const option = (name: string, text: string): string =>
    required.includes(name) ? text : `[${text}]`
  const parts = [
    words,
    operands,
    switches.map((name) => option(name, `--${name}`)),
    flags.map((name) => option(name, `--${name} ...`)),
  ]
  return parts.flat().join(' ')
}

function describe(error: unknown): string {
  if (isAppError(error)) return `${error.code}: ${error.message}${causeOf(error)}`
  return messageOf(error)
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? ` (${cause.message})` : ''
}
