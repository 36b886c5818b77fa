/** What each turn used, and the conversation together. */
import type { Turn } from "../history/model";
import { Sheet } from "../parts/sheet";
import { amount, lasting } from "../parts/time";

interface Props {
  turns: Turn[];
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** Tokens so far: of a turn that runs, those of its finished steps. */
function tokens(turn: Turn) {
  if (turn.usage) return turn.usage;
  return turn.steps.reduce(
    (sum, { usage }) => ({
      inputTokens: sum.inputTokens + (usage?.inputTokens ?? 0),
      outputTokens: sum.outputTokens + (usage?.outputTokens ?? 0),
    }),
    { inputTokens: 0, outputTokens: 0 },
  );
}

function took(turn: Turn): string {
  if (!turn.startedAt || !turn.endedAt) return "–";
  return lasting(Date.parse(turn.endedAt) - Date.parse(turn.startedAt));
}

export function UsageSheet({ turns, open, onOpenChange }: Props) {
  const all = turns.map(tokens);
  const total = (field: "inputTokens" | "outputTokens") => all.reduce((sum, usage) => sum + usage[field], 0);
  return (
    <Sheet open={open} onOpenChange={onOpenChange} title="Usage">
      <dl className="totals">
        <div>
          <dt>Tokens read</dt>
          <dd>{amount(total("inputTokens"))}</dd>
        </div>
        <div>
          <dt>Tokens written</dt>
          <dd>{amount(total("outputTokens"))}</dd>
        </div>
        <div>
          <dt>Tool calls</dt>
          <dd>{amount(turns.reduce((sum, turn) => sum + Object.keys(turn.calls).length, 0))}</dd>
        </div>
      </dl>
      <div className="table" tabIndex={0} role="group" aria-label="Usage by turn">
        <table>
          <thead>
            <tr>
              <th scope="col">Turn</th>
              <th scope="col">Read</th>
              <th scope="col">Written</th>
              <th scope="col">Steps</th>
              <th scope="col">Calls</th>
              <th scope="col">Time</th>
            </tr>
          </thead>
          <tbody>
            {turns.map((turn, index) => (
              <tr key={turn.id}>
                <th scope="row">{turn.text.slice(0, 60)}</th>
                <td>{amount(all[index]?.inputTokens ?? 0)}</td>
                <td>{amount(all[index]?.outputTokens ?? 0)}</td>
                <td>{turn.steps.length}</td>
                <td>{Object.keys(turn.calls).length}</td>
                <td className="nowrap">{took(turn)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Sheet>
  );
}
