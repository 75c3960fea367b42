import { messages } from '../../messages.ts'
import { viewerEnglish, type ViewerMessages } from './english.ts'

/** The messages of the viewer, in the language that the page is shown in. */
export const words: ViewerMessages = messages.viewer ?? viewerEnglish
