import { parseArgs } from 'node:util'
import { isAppError, messageOf } from '../core/errors.ts'
import type { Command, CommandCall, CommandServices } from './command.ts'
import { DEVICES } from './commands/devices.ts'
import { GRANTS } from './commands/grants.ts'
import { OPERATIONS } from './commands/operations.ts'
import { TOKENS } from './commands/tokens.ts'
import { USERS } from './commands/users.ts'
import { printable } from './printable.ts'
import { render } from './render.ts'

export interface CliOptions {
  /** The words after the program's name. */
  readonly args: readonly string[]
  /** Opens what commands work on; called only for a command that is well-formed. */
  readonly open: () => Promise<CommandServices>
  readonly print: (line: string) => void
  readonly printError: (line: string) => void
  /** Called by a command that takes long; the signal aborts when the user ends it. */
  readonly interruption: () => AbortSignal
}

/**
 * Runs one command and returns the exit code for scripts: 0 done, 1 refused, failed, or done with something to tell,
 * 2 wrongly called.
 * Results go to `print` (with `--json` as one JSON document), all else to `printError`; no text holds what a terminal obeys.
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
    const services = await open()
    try {
      let exitCode: 0 | 1 = 0
      const fail = (): void => {
        exitCode = 1
      }
      const output = { print, printError, fail, interruption }
      const result = await call.command.run(services, { ...call, ...output })
      if (result !== undefined) print(call.json ? JSON.stringify(result) : render(result))
      return exitCode
    } finally {
      await services.close()
    }
  } catch (error) {
    printError(describe(error))
    return 1
  }
}

/** Whether the word asks for help, wherever it stands. */
export function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

/** In the order of the help. */
const COMMANDS: readonly Command[] = [...USERS, ...TOKENS, ...DEVICES, ...GRANTS, ...OPERATIONS]

interface Call extends Pick<CommandCall, 'operands' | 'flags' | 'switches' | 'json'> {
  readonly command: Command
}

/** The command that `args` call, or a sentence that says why they call none. */
function parseCall(args: readonly string[]): Call | string {
  const command = commandOf(args)
  if (command === undefined) return `There is no such command.\n\n${help()}`
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

function commandOf(args: readonly string[]): Command | undefined {
  return COMMANDS.find(({ words }) => words.every((word, i) => args[i] === word))
}

function optionsOf({ flags, switches = [] }: Command) {
  const options: Record<string, { readonly type: 'string' | 'boolean' }> = {}
  for (const flag of flags) options[flag] = { type: 'string' }
  for (const name of ['json', ...switches]) options[name] = { type: 'boolean' }
  return options
}

function isSwitch([, value]: readonly [string, unknown]): boolean {
  return value === true
}

function operandCounts({ operands }: Command): { least: number; most: number } {
  const optional = operands.filter((operand) => operand.startsWith('['))
  return { least: operands.length - optional.length, most: operands.length }
}

/** Of the command that is asked about, or of all. */
function helpOn(args: readonly string[]): string {
  const command = commandOf(args[0] === 'help' ? args.slice(1) : args)
  return command === undefined ? help() : `${usage(command)}\n\n${command.summary}`
}

function help(): string {
  return [
    helpLine('serve', 'run the service'),
    helpLine('doctor', 'use every part that the settings name, and say what is wrong'),
    ...COMMANDS.map((command) => helpLine(lineOf(command), command.summary)),
    '',
    'Every command takes --json; --version says the version. Settings come from the environment; docs/configuration.md lists them.',
  ].join('\n')
}

const CALL_WIDTH = 40

/** How a command is called and what it does, below it when there is no room beside. */
function helpLine(line: string, summary: string): string {
  const call = `cloud-repo ${line}`.padEnd(CALL_WIDTH)
  return call.length === CALL_WIDTH && call.endsWith(' ')
    ? `${call}${summary}`
    : `${call}\n${' '.repeat(CALL_WIDTH)}${summary}`
}

function usage(command: Command): string {
  return `usage: cloud-repo ${lineOf(command)}`
}

function lineOf({ words, operands, flags, switches = [], required = [] }: Command): string {
  const options = flags.map((flag) =>
    required.includes(flag) ? `--${flag} ...` : `[--${flag} ...]`,
  )
  return [...words, ...operands, ...switches.map((name) => `[--${name}]`), ...options].join(' ')
}

function describe(error: unknown): string {
  if (isAppError(error)) return `${error.code}: ${error.message}${causeOf(error)}`
  return messageOf(error)
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? ` (${cause.message})` : ''
}
