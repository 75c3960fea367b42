import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { blocksOf } from '../documents/pages.ts'
import { findProgram } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { helm, only, render, type Resource, type Values } from './chart.ts'
import { workloadOf } from './workload.ts'

const skipped = isSkipped(await whyMissing(findProgram('helm')))
const path = 'docs/kubernetes.md'
const blocks = blocksOf({ path, text: await readFile(path, 'utf8') })
const examples = blocks
  .filter(({ language }) => language === 'yaml')
  .map(({ name, text }) => ({ name, values: parse(text) as Values }))

describe.skipIf(skipped)('docs/kubernetes.md', () => {
  it('installs the chart with its values.yaml', async () => {
    const [commands = ''] = blocks.flatMap(({ text }) => (text.startsWith('helm') ? [text] : []))
    const values = examples.find(({ name }) => name === '# values.yaml')?.values
    const words = commands.replaceAll('\\\n', ' ').trim().split(/\s+/)
    expect(words.slice(0, 3)).toEqual(['helm', 'upgrade', '--install'])
    const args = words.slice(3).map((word) => (word === 'values.yaml' ? '-' : word))
    const rendered = await helm(['template', ...args], values)
    expect(rendered).toContain('replicas: 3\n')
    expect(rendered).toContain('image: registry.example.com/cloud-repository:')
    expect(rendered).toContain('value: "50GiB"')
  })

  it('has a Job release uploads with the settings of the service', async () => {
    const commands = blocks.find(({ text }) => text.startsWith('kubectl --namespace files scale'))
    const [pipeline = ''] = /^helm [^]*?(?= \|\n *kubectl)/m.exec(commands?.text ?? '') ?? []
    const values = JSON.stringify(examples.find(({ name }) => name === '# values.yaml')?.values)
    const line = pipeline.replace(' values.yaml', ' <(echo "$VALUES")')
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', line], {
      env: { PATH: `${dirname(await findProgram('helm'))}:${process.env['PATH']}`, VALUES: values },
    })
    const job = parse(stdout) as Resource
    const [releasing] = workloadOf(job).template.spec.containers
    const release = { examples: ['cloudnativepg', 'minio'], values: JSON.parse(values) as Values }
    const [migrating] = workloadOf(only('Job', await render(release))).template.spec.containers
    expect(releasing).toEqual({ ...migrating, args: ['uploads', 'release', '--finished'] })
    expect(commands?.text).toContain(`job/${job.metadata.name}\n`)
  })

  it.each(examples)('shows values that the chart takes: $name', async ({ values }) => {
    // The first example needs the files that its command names.
    const release = 'replicaCount' in values ? { examples: ['rds', 's3'] } : {}
    expect((await render({ ...release, values })).length).toBeGreaterThan(3)
  })
})
