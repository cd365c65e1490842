// An elicitation request in Chainlit: text, buttons, and the form that a button opens.
// Words of the server are shown as text only: there is no markup, and nothing is fetched.
import { useEffect, useRef, useState } from 'react';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/input';
import { Textarea } from '@/components/ui/textarea';

const MAX_SHOWN = 50;
const MANY = 10;
const line = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', margin: '0.25rem 0' };
const styles = {
  heading: { ...line, fontWeight: 600 },
  text: line,
  quote: { ...line, borderLeft: '3px solid hsl(var(--border))', paddingLeft: '0.75rem' },
  url: { ...line, fontFamily: 'monospace' },
  hint: { ...line, fontSize: '0.8rem', color: 'hsl(var(--muted-foreground))' },
  error: { ...line, fontSize: '0.875rem', color: 'light-dark(#b91c1c, #f87171)' },
  row: { display: 'flex', flexWrap: 'wrap', gap: '0.5rem', marginTop: '0.5rem' },
  field: { margin: '1rem 0', border: 0, padding: 0, minWidth: 0 },
  options: { maxHeight: '16rem', overflowY: 'auto' },
  option: { display: 'flex', gap: '0.5rem', alignItems: 'center', padding: '0.15rem 0', overflowWrap: 'anywhere' },
  button: { height: 'auto', minHeight: '2.25rem', whiteSpace: 'normal', textAlign: 'left', overflowWrap: 'anywhere' }
};

function Text({ paragraphs }) {
  return paragraphs.map((each, at) => {
    const Tag = each.kind === 'quote' ? 'blockquote' : 'div';
    return <Tag key={at} style={styles[each.kind]}>{each.text}</Tag>;
  });
}

function Options({ field, id, value, onChange, texts, describedBy }) {
  const [search, setSearch] = useState('');
  const isMany = field.kind === 'options';
  const chosen = value || [];
  const word = search.trim().toLowerCase();
  const found = field.options.map((label, at) => at).filter((at) => field.options[at].toLowerCase().includes(word));
  const others = chosen.filter((at) => !found.slice(0, MAX_SHOWN).includes(at));
  const shown = [...others, ...found.slice(0, MAX_SHOWN)];
  const choose = (at, isChosen) => {
    if (!isMany) return onChange([at]);
    return onChange(isChosen ? [...chosen, at].sort((a, b) => a - b) : chosen.filter((each) => each !== at));
  };
  return (
    <div>
      {field.options.length > MANY && (
        <div style={{ display: 'flex', gap: '0.5rem', alignItems: 'center' }}>
          <Input
            type="search" placeholder={texts.search} aria-label={`${texts.search}: ${field.label}`}
            value={search} onChange={(event) => setSearch(event.target.value)}
          />
          <span style={{ ...styles.hint, whiteSpace: 'nowrap' }}>
            {Math.min(found.length, MAX_SHOWN)} / {field.options.length}
          </span>
        </div>
      )}
      <div style={styles.options} aria-describedby={describedBy}>
        {shown.map((at) => (
          <label key={at} style={styles.option}>
            <input
              type={isMany ? 'checkbox' : 'radio'} name={id} checked={chosen.includes(at)}
              onChange={(event) => choose(at, event.target.checked)}
            />
            <span>{field.options[at]}</span>
          </label>
        ))}
        {!shown.length && <div style={styles.hint}>{texts.none}</div>}
      </div>
      {!isMany && !field.is_required && chosen.length > 0 && (
        <Button type="button" variant="ghost" size="sm" onClick={() => onChange(null)}>{texts.clear}</Button>
      )}
    </div>
  );
}

function Field({ field, id, value, error, onChange, texts }) {
  const describedBy = `${id}-hint`;
  const more = { 'aria-describedby': describedBy, 'aria-invalid': Boolean(error), 'aria-required': field.is_required };
  const isLong = field.kind === 'long_text' || field.kind === 'list';
  const typed = { id, value: value || '', onChange: (event) => onChange(event.target.value), ...more };
  const [Tag, Label] = field.options.length ? ['fieldset', 'legend'] : ['div', 'label'];
  return (
    <Tag style={styles.field}>
      <Label htmlFor={field.options.length ? undefined : id} style={{ ...line, fontWeight: 500, padding: 0 }}>
        {field.label}
      </Label>
      <div id={describedBy}>
        {field.hint && <div style={styles.hint}>{field.hint}</div>}
        {error && <div role="alert" style={styles.error}>{error}</div>}
      </div>
      {field.options.length ? (
        <Options {...{ field, id, value, onChange, texts, describedBy }} />
      ) : isLong ? (
        <Textarea rows={3} {...typed} />
      ) : (
        <Input type={field.is_date ? 'date' : 'text'} {...typed} />
      )}
    </Tag>
  );
}

function Form({ dialog, act, texts, isBusy, note }) {
  const [values, setValues] = useState(() => Object.fromEntries(dialog.fields.map((each) => [each.id, each.initial])));
  const [errors, setErrors] = useState({});
  const form = useRef(null);
  useEffect(() => {
    const first = form.current?.querySelector('[role=alert]');
    first?.closest('fieldset, div[data-field]')?.querySelector('input, textarea')?.focus();
  }, [errors]);
  const submit = async (event) => {
    event.preventDefault();
    const reaction = await act({ data: dialog.id, values });
    setErrors(reaction?.errors || {});
  };
  return (
    <form ref={form} onSubmit={submit} noValidate>
      {dialog.fields.map((each) => (
        <div key={each.id} data-field={each.id}>
          <Field
            field={each} id={`${dialog.id}-${each.id}`} value={values[each.id]} error={errors[each.id]} texts={texts}
            onChange={(value) => setValues((before) => ({ ...before, [each.id]: value }))}
          />
        </div>
      ))}
      {note}
      <div style={styles.row}>
        <Button type="submit" disabled={isBusy} style={styles.button}>{dialog.submit}</Button>
      </div>
    </form>
  );
}

// The element is evaluated again whenever the chat changes. The component must stay the same, or it would lose its state.
globalThis.McpElicitation ??= function McpElicitation({ paragraphs, buttons, texts, callAction }) {
  const [dialog, setDialog] = useState(null);
  const [said, setSaid] = useState('');
  const [isBusy, setBusy] = useState(false);
  const opener = buttons.find((each) => each.opens_dialog)?.data;
  const act = async (payload, isAutomatic = false) => {
    setBusy(true);
    try {
      const { response } = await callAction({ name: 'McpElicitation', payload });
      if (response.note || !isAutomatic) setSaid(response.note || '');
      if (response.dialog) setDialog({ ...response.dialog, opener: payload.data });
      return response;
    } catch {
      setSaid(texts.failed);
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    if (opener) act({ data: opener }, true);
  }, [opener]);
  const isOpen = dialog && dialog.opener === opener;
  const note = <div role="status" style={styles.error}>{said}</div>;
  const shown = buttons.filter((each) => !(isOpen && each.data && each.data === opener));
  const draw = (each, at) =>
    each.url ? (
      <Button key={at} variant="outline" asChild style={styles.button}>
        <a href={each.url} target="_blank" rel="noopener noreferrer">{each.label}</a>
      </Button>
    ) : (
      <Button
        key={each.data} variant="outline" disabled={isBusy} style={styles.button}
        onClick={() => act({ data: each.data })}
      >
        {each.label}
      </Button>
    );
  const options = shown.filter((each) => each.is_option);
  const others = shown.filter((each) => !each.is_option);
  const colorScheme = document.documentElement.classList.contains('dark') ? 'dark' : 'light';
  return (
    <div style={{ colorScheme }}>
      <Text paragraphs={isOpen && paragraphs.at(-1)?.kind === 'text' ? paragraphs.slice(0, -1) : paragraphs} />
      {isOpen && <Form key={dialog.id} {...{ dialog, act, texts, isBusy, note }} />}
      {!isOpen && note}
      {options.length > 0 && <div style={styles.row}>{options.map(draw)}</div>}
      {others.length > 0 && <div style={styles.row}>{others.map(draw)}</div>}
    </div>
  );
};

export default <globalThis.McpElicitation {...props} callAction={callAction} />;
