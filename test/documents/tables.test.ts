import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { FORMS } from '../../src/cli/help.ts'
import { formOf } from '../../src/cli/usage.ts'
import { type Config, readConfig, settingNames } from '../../src/config/config.ts'
import { FULL } from '../config/full-settings.ts'
import { codesIn, rowsUnder } from './rows.ts'

const configuration = await readFile('docs/configuration.md', 'utf8')
const administration = await readFile('docs/administration.md', 'utf8')
const observing = await readFile('docs/observing.md', 'utf8')

describe('the table of settings', () => {
  it('names every setting that the service reads, and no other', () => {
    const named = rowsUnder('## Settings', configuration).flatMap(([names = '']) => codesIn(names))
    const traced = rowsUnder('## Traces', observing).flatMap(([names = '']) => codesIn(names))
    const read = [...settingNames()]
    const isTraced = (name: string): boolean => name.startsWith('OTEL_')
    expect(read.filter((name) => !named.includes(name) && !isTraced(name))).toEqual([])
    expect(named.filter((name) => !read.includes(name))).toEqual([])
    const whole = traced.filter((name) => !name.startsWith('...') && !SDK_READS.has(name))
    expect(whole.filter((name) => !read.includes(name))).toEqual([])
  })

  it('has the defaults that are in force', () => {
    const compared: string[] = []
    for (const [names = '', defaults = ''] of rowsUnder('## Settings', configuration)) {
      const values = defaults.split(/, (?=`|empty)/)
      for (const [at, name] of codesIn(names).entries()) {
        const [value] = values[at]?.startsWith('`') === true ? codesIn(values[at]) : []
        if (value === undefined || value === 'sqlite:' || value === 'file:') continue
        compared.push(name)
        const unset = configOf({})[0]
        expect({ name, config: configOf({ [name]: value })[0] }).toEqual({ name, config: unset })
      }
    }
    expect(compared).toEqual(expect.arrayContaining(['PORT', 'MAX_FILES', 'S3_FORCE_PATH_STYLE']))
  })

  it('names no setting that .env.example lacks', async () => {
    const example = await readFile('.env.example', 'utf8')
    const named = rowsUnder('## Settings', configuration).flatMap(([names = '']) => codesIn(names))
    const missing = named.filter((name) => !new RegExp(`^#?${name}=`, 'm').test(example))
    expect(missing).toEqual([])
  })
})

describe('.env.example', () => {
  it('shows the default of each setting that it does not call an example', async () => {
    const lines = (await readFile('.env.example', 'utf8')).split('\n')
    const examples: string[] = []
    const defaults: Record<string, string> = {}
    let isExample = false
    for (const line of lines) {
      const [, name = '', value = ''] = /^#([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? []
      if (name === '') isExample = /^# Examples?:/.test(line)
      else if (isExample) examples.push(name)
      // An empty value is none.
      else if (value !== '') defaults[name] = value
    }
    expect(configOf(defaults)).toEqual(configOf({}))
    expect(Object.keys(defaults)).toContain('GARBAGE_DELAY')
    expect(examples).toEqual(expect.arrayContaining(['DATABASE_URL', 'JWT_ISSUER']))
  })
})

describe('the table of commands', () => {
  it('has every command, and no other', () => {
    const named = rowsUnder('## Users, tokens, devices', administration).flatMap(([cell = '']) => {
      const [first = '', ...others] = codesIn(cell).map((code) => code.replace(/ [[<].*$/, ''))
      const [group = ''] = first.split(' ')
      return [first].concat(others.map((verb) => `${group} ${verb}`))
    })
    const commands = FORMS.map((form) => formOf(form).words.join(' '))
    expect(named.toSorted()).toEqual(commands.toSorted())
  })
})

/** The settings of which only OpenTelemetry's own code knows. */
const SDK_READS = new Set(['OTEL_SERVICE_NAME', 'OTEL_RESOURCE_ATTRIBUTES'])

/** The config of these settings, alone and with everything on. */
function configOf(settings: Readonly<Record<string, string>>): [Omit<Config, 'settings'>[]] {
  const configs = [settings, { ...FULL, ...settings }].map((environment) => {
    const { settings: _, ...config } = readConfig(environment)
    return config
  })
  return [configs]
}
