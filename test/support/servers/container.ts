import {
  GenericContainer,
  getContainerRuntimeClient,
  type StartedTestContainer,
  Wait,
} from 'testcontainers'

export interface ContainerOptions {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** The port inside the container; it is published on a free one of the loopback. */
  readonly port: number
  /** An HTTP path that answers 200, or a line of the log, once the server is ready. */
  readonly ready: { readonly path: string } | { readonly log: RegExp; readonly times: number }
}

export interface RunningContainer {
  readonly host: string
  readonly port: number
  readonly stop: () => Promise<void>
}

/** Runs an image, or rejects with the reason why it can't: no container engine answers, or it can't get the image. */
export async function startContainer(options: ContainerOptions): Promise<RunningContainer> {
  const { image, command, environment, port, ready } = options
  // Asked first, since starting without an engine fails with a page of text.
  await getContainerRuntimeClient().catch(() => {
    throw new Error('no container engine answers')
  })
  const container = new GenericContainer(image)
    .withEnvironment({ ...environment })
    .withExposedPorts(port)
    .withWaitStrategy(
      'path' in ready ? Wait.forHttp(ready.path, port) : Wait.forLogMessage(ready.log, ready.times),
    )
  if (command !== undefined) container.withCommand([...command])
  return running(await container.start(), port)
}

function running(container: StartedTestContainer, port: number): RunningContainer {
  return {
    host: container.getHost(),
    port: container.getMappedPort(port),
    async stop() {
      await container.stop({ remove: true, removeVolumes: true })
    },
  }
}
