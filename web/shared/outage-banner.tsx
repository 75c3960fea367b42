import { messages } from '../messages.ts'
import { Icon } from './icon.tsx'

/** Says, above all else, that the service cannot be reached. */
export function OutageBanner() {
  return (
    <p class="banner" role="alert">
      <Icon name="warning" />
      {messages.outage}
    </p>
  )
}
