import { parseArgs } from 'node:util'
import { ERROR_KINDS } from '../core/error-codes.ts'
import { isAppError, messageOf } from '../core/errors.ts'
import { callAdmin } from './call-admin.ts'
import {
  type Command,
  type CommandArguments,
  type CommandCall,
  type CommandServices,
  type Copies,
  NotEmbedded,
  type StandaloneCommand,
} from './command.ts'
import { COMMANDS } from './commands.ts'
import { REBUILD } from './commands/rebuild.ts'
import { printable, render, type Result } from './render.ts'
import { helpOn } from './help.ts'
import { formOf, isHelp, unknownCommand, usageOf } from './usage.ts'

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
 * Runs one command. Exit codes: 0 done; 1 refused, failed, or done with findings; 2 usage error, or not for these
 * settings. Results go to `print` (with `--json` as one document), the rest to `printError`; neither receives terminal
 * control characters.
 */
export async function runCli(options: CliOptions): Promise<0 | 1 | 2> {
  const { args, interruption, drawLine, copies } = options
  const print = (line: string): void => options.print(printable(line))
  const printError = (line: string): void => options.printError(printable(line))
  if (args.length === 0 || args.some(isHelp) || args[0] === 'help') {
    print(helpOn(args[0] === 'help' ? args.slice(1) : args))
    return 0
  }
  const given = parseCall(args)
  if (typeof given === 'string') {
    printError(given)
    return 2
  }
  try {
    let exitCode: 0 | 1 = 0
    const fail = (): void => void (exitCode = 1)
    const onUnrecorded = (error: unknown): void =>
      printError(`The audit trail lacks this action. ${describe(error)}`)
    const call = {
      ...given,
      print,
      printError,
      drawLine,
      fail,
      copies,
      onUnrecorded,
      interruption,
    }
    const { command } = given
    const result =
      'runAlone' in command ? await command.runAlone(call) : await runOn(options, command, call)
    if (result !== undefined) print(call.json ? JSON.stringify(result) : render(result))
    return exitCode
  } catch (error) {
    printError(describe(error))
    return error instanceof NotEmbedded ? 2 : 1
  }
}

async function runOn(
  { open }: CliOptions,
  command: Exclude<Command, StandaloneCommand>,
  call: CommandCall,
): Promise<Result | undefined> {
  const any = 'run' in command ? command.acceptsAnyStoreWith : undefined
  const services = await open({ acceptsAnyStore: any !== undefined && call.switches.has(any) })
  try {
    if (command !== REBUILD) await services.rebuilder.assertFinished()
    if ('run' in command) return await command.run(services, call)
    const admin = await services.openAdmin(call.onUnrecorded)
    await callAdmin(admin, command, call)
    return undefined
  } finally {
    await services.close()
  }
}

interface Call extends CommandArguments {
  readonly command: Command
}

/** Returns a message for the user if the call is invalid. */
function parseCall(args: readonly string[]): Call | string {
  const command = commandOf(args)
  if (command === undefined) return unknownCommand(args, COMMANDS)
  const { words, operands, requiredOperands, options, requiredOptions } = formOf(command)
  try {
    const { values, positionals } = parseArgs({
      args: args.slice(words.length),
      allowPositionals: true,
      options: { ...options, json: { type: 'boolean' } },
    })
    const isComplete =
      positionals.length >= requiredOperands &&
      positionals.length <= operands.length &&
      requiredOptions.every((option) => option in values)
    // An empty text is one of an unset variable.
    const isFilled = ![...positionals, ...Object.values(values)].includes('')
    if (!isComplete || !isFilled) return usageOf(command)
    const given: [string, unknown][] = Object.entries(values)
    return {
      command,
      operands: Object.fromEntries(positionals.map((text, at) => [operands[at] ?? '', text])),
      flags: Object.fromEntries(given.filter(isFlag)),
      switches: new Set(given.filter(([, value]) => value === true).map(([name]) => name)),
      json: values['json'] === true,
    }
  } catch (error) {
    return `${describe(error)}\n${usageOf(command)}`
  }
}

function isFlag(option: readonly [string, unknown]): option is [string, string] {
  return typeof option[1] === 'string'
}

function commandOf(args: readonly string[]): Command | undefined {
  return COMMANDS.find((command) => formOf(command).words.every((word, i) => args[i] === word))
}

/** With the cause of a failure, which a refusal does not need. */
function describe(error: unknown): string {
  if (!isAppError(error)) return messageOf(error)
  const { code, message, cause } = error
  const isFailure = ERROR_KINDS[code].status >= 500
  return `${code}: ${message}${isFailure && cause instanceof Error ? ` (${cause.message})` : ''}`
}
