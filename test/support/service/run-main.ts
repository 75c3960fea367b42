/**
 * Runs what a command of the repository does with its words and ends with its exit code. `--help` prints the usage; so
 * does an option that there is not, with what was wrong and 2.
 */
export async function runMain(
  usage: string,
  main: (args: readonly string[]) => Promise<number>,
): Promise<void> {
  const args = process.argv.slice(2)
  if (args.includes('--help')) {
    console.log(usage)
    return
  }
  try {
    process.exitCode = await main(args)
  } catch (error) {
    if (!isWrongOption(error)) throw error
    console.error(`${error.message}\n${usage}`)
    process.exitCode = 2
  }
}

/** Thrown by `parseArgs` of Node. */
function isWrongOption(error: unknown): error is Error {
  return (
    error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')
  )
}
