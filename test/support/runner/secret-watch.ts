import { pino, type Logger } from 'pino'

/** What no log may hold: access tokens, tokens of operators, secrets of links, JWTs, and whatever a test says is a secret. */
const SECRETS = [/cr[tlo]_[\w-]{8,}/, /eyJ[\w-]{8,}\.[\w-]{8,}/]

const secrets = new Set<string>()
const lines: string[] = []

/** Whatever is logged from now on, in this test file, must not hold `secret`. */
export function keepOutOfLogs(secret: string): void {
  secrets.add(secret)
}

/** Takes every line that a service of a test logs, at every level, and keeps those that give a secret away. */
export function createWatchedLogger(): Logger {
  return pino({ level: 'trace' }, { write: (line) => void (isLeak(line) && lines.push(line)) })
}

function isLeak(line: string): boolean {
  return (
    SECRETS.some((secret) => secret.test(line)) ||
    [...secrets].some((secret) => line.includes(secret))
  )
}

/** The lines that gave a secret away; they are forgotten then. */
export function takeLeaks(): readonly string[] {
  return lines.splice(0)
}
