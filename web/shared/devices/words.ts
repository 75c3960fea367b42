import { messages } from '../../messages.ts'
import { type DeviceMessages, devicesEnglish } from './english.ts'

/** The messages about devices, in the language that the page is shown in. */
export const words: DeviceMessages = messages.devices ?? devicesEnglish
