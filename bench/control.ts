import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/** The control socket of the benched runtime (`SOCKET.ctl`, contract of crisim): a command a line, a JSON answer a line. */
export class Control {
  private readonly socket: Socket
  private readonly waiting: ((line: string) => void)[] = []

  private constructor(socket: Socket) {
    this.socket = socket
    createInterface({ input: socket }).on('line', (line) => this.waiting.shift()?.(line))
  }

  static async dial(path: string): Promise<Control> {
    const socket = connect(path)
    await once(socket, 'connect')
    return new Control(socket)
  }

  /** Restarts containers; answers how many events that makes. */
  async churn(restarts: number): Promise<number> {
    const before = await this.containers()
    await this.ask(`churn ${restarts}`)
    await this.settle()
    // Each restart ends one and starts one; where the dead one's predecessor was removed, that is a third.
    return 3 * restarts - ((await this.containers()) - before)
  }

  /** The next lists are ready before they are asked for: what is measured is the client. */
  async settle(): Promise<void> {
    await this.ask('settle')
  }

  close(): void {
    this.socket.destroy()
  }

  private async containers(): Promise<number> {
    return Number((await this.ask('stats'))['containers'])
  }

  private ask(command: string): Promise<Record<string, unknown>> {
    return new Promise((resolve) => {
      this.waiting.push((line) => resolve(JSON.parse(line) as Record<string, unknown>))
      this.socket.write(`${command}\n`)
    })
  }
}
