import type { ChannelType } from './channel.ts'
import { discord } from './discord.ts'
import { email } from './email.ts'
import { ntfy } from './ntfy.ts'
import { slack } from './slack.ts'
import { telegram } from './telegram.ts'
import { webhook } from './webhook.ts'

/** Every type of channel. */
export const channelTypes: readonly ChannelType[] = [webhook, discord, slack, ntfy, telegram, email]
