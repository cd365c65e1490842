"""
The words by which people and servers speak of secrets, and the shapes that secrets have.

Nothing here is code: `core.secrets` reads it.  A word stands for a *sign*, in
every language, and a rule is a pattern of signs, so that a new language is a
line of words and no new rule.  Words are compared without capitals, marks and
invisible letters; ``ä`` also goes as ``ae``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mcp_elicit_client.core.secrets.data_loader import SecretKind

CALLED: Mapping[SecretKind, str] = {
    "api_key": "an API key or another secret key",
    "bank_account": "a bank account number",
    "card": "the details of a payment card",
    "connection": "an address that holds a credential",
    "identity_number": "the number of an identity document",
    "one_time_code": "a one-time or access code",
    "password": "a password",
    "pin": "a PIN",
    "private_key": "a private key",
    "recovery_phrase": "a recovery phrase",
    "security_answer": "the answer to a security question",
    "session": "a session cookie",
    "token": "an access token",
}
"""What people call each kind."""

WRITTEN_IN_DIGITS: frozenset[SecretKind] = frozenset(
    {"bank_account", "card", "identity_number", "one_time_code", "password", "pin"}
)
"""The kinds that a number can be."""

# --- Words ------------------------------------------------------------------
#
# ``word`` is the whole word, ``word*`` its beginning, ``*word*`` may stand
# anywhere in one, and ``two_words`` follow one another.  In scripts that put
# no spaces, every word may stand anywhere.  No word is in two places.

WORDS: Mapping[str, Mapping[str, str]] = {
    # Words that ask for a secret by themselves.
    "password": {
        "en": """password* *passwor* *passwd* pwd pswd psswd psw passw passwrd paswd pasword *passphras* pass_phrase
            passphrase passphrases passkey drowssap passwrod pass_wrd psk wifi_key wi_fi_key wlan_key network_key
            wep_key wpa_key memorable_word memorable_information secret_word""",
        "de": "passwort* kennwort* *kennwort* losungswort* geheimwort*",
        "nl": "wachtwoord* *wachtwoord* paswoord*",
        "af": "wagwoord*",
        "sv": "lösenord* *lösenord*",
        "no": "passord* *passord*",
        "da": "adgangskode* *adgangskode* kodeord* kodord*",
        "is": "lykilord* adgangsord*",
        "fi": "salasana* *salasana* tunnussana*",
        "et": "parool* salasõna*",
        "lt": "slaptazod*",
        "fr": "mot_de_passe mots_de_passe *motdepasse* mdp mot_secret",
        "es": "contrasen* palabra_de_paso palabra_secreta",
        "ca": "contrasenya* paraula_de_pas",
        "gl": "contrasinal*",
        "eu": "pasahitz*",
        "pt": "senha* palavra_passe palavra_de_passe palavra_secreta",
        "it": "parola_d_ordine parola_di_accesso parola_segreta",
        "ro": "parolei parola_ta parola_dvs cuvant_secret",
        "pl": "haslo hasla haslem haslu hasel",
        "cs, sk": "heslo hesla heslem heslom hesel hesiel heslu tajne_slovo",
        "sl": "geslo gesla geslom",
        "hr, bs, sr": "lozink* zapork* лозинк*",
        "ru, uk, be, bg, mk": "парол* секретное_слово кодовое_слово секретне_слово тайна_дума",
        "kk, mn": "құпиясөз* құпия_сөз нууц_үг",
        "uz, az": "parol paroli parolni parolu parolingiz* şifrə*",
        "tr": "sifre sifren* sifrem* sifresi* sifreyi sifresini parolan* parolam* parolay*",
        "el": "συνθηματικ* κωδικος_προσβασης κωδικο_προσβασης κωδικου_προσβασης κωδικοι_προσβασης μυστικη_λεξη",
        "hu": "jelszo* jelszav* *jelszo titkos_szo",
        "sq": "fjalekalim* fjalkalim*",
        "ga": "pasfhocal*",
        "cy": "cyfrinair*",
        "id, ms": "kata_sandi katasandi sandi kata_laluan katalaluan kod_laluan",
        "sw": "nenosiri neno_la_siri neno_siri",
        "eo": "pasvort*",
        "ka": "პაროლ*",
        "hy": "գաղտնաբառ*",
        "vi": "mat_khau matkhau",
        "th, lo, km, my": "รหัสผ่าน พาสเวิร์ด รหัสลับ ລະຫັດຜ່ານ ពាក្យសម្ងាត់ លេខសម្ងាត់ စကားဝှက်",
        "ar": "كلمة_المرور كلمة_السر كلمة_مرور كلمة_سر كلمات_المرور الباسورد باسورد باسوورد الباسوورد",
        "fa": "رمز_عبور گذرواژه کلمه_عبور پسورد رمز_ورود کلمه_رمز",
        "ur, ps": "پاس_ورڈ پاسورڈ خفیہ_لفظ پټنوم",
        "he": "סיסמה סיסמא סיסמת סיסמתך סיסמאות ססמה ססמא",
        "hi, mr, ne": "पासवर्ड कूटशब्द संकेतशब्द गुप्त_शब्द",
        "bn": "পাসওয়ার্ড গোপন_শব্দ",
        "ta": "கடவுச்சொல்",
        "te": "పాస్వర్డ్ పాస్‌వర్డ్ సంకేతపదం",
        "kn": "ಪಾಸ್ವರ್ಡ್ ಗುಪ್ತಪದ",
        "ml": "പാസ്വേഡ് പാസ്‌വേഡ് രഹസ്യവാക്ക് അടയാളവാക്ക്",
        "gu": "પાસવર્ડ",
        "pa": "ਪਾਸਵਰਡ",
        "si": "මුරපදය",
        "am": "የይለፍ_ቃል የይለፍቃል",
        "ja": "パスワード パスフレーズ 合言葉 合い言葉",
        "zh": "密码 密碼 口令",
        "ko": "비밀번호 암호 패스워드 비번",
    },
    # The same in one language, a word like any other in another.
    "clave": {
        "es": "clave",
        "it, ro, tr": "parola",
        "lv, fr, it": "parole",
        "hr, sr, bs, cs": "sifra sifru шифра шифру",
        "fa": "رمز",
    },
    "pass": {
        "en": "pass pw pword",
        "fr": "passe",
    },
    "credential": {
        "en": "credential credentials creds cred *credentials",
        "de": "zugangsdaten* anmeldedaten logindaten",
        "nl": "inloggegevens aanmeldgegevens",
        "sv, no, da": "inloggningsuppgifter innloggingsdetaljer loginoplysninger",
        "fi": "tunnistetiedot kirjautumistiedot",
        "fr": "identifiants_de_connexion informations_d_identification identifiants_d_acces",
        "es": "credenciales credencial_de_acceso datos_de_acceso",
        "pt": "credenciais dados_de_acesso",
        "it": "credenziali dati_di_accesso",
        "ro": "credentiale acreditari date_de_autentificare",
        "pl": "poswiadczenia dane_logowania dane_do_logowania",
        "cs, sk": "prihlasovaci_udaje prihlasovacie_udaje",
        "hr, sr": "podaci_za_prijavu vjerodajnice",
        "ru, uk, bg": "учетные_данные реквизиты_доступа данные_для_входа облікові_дані",
        "hu": "hitelesito_adatok bejelentkezesi_adatok",
        "tr": "giris_bilgileri kimlik_bilgileri oturum_bilgileri",
        "el": "διαπιστευτηρια",
        "id, ms": "kredensial",
        "vi": "thong_tin_dang_nhap",
        "ar, fa": "بيانات_الاعتماد بيانات_الدخول بيانات_تسجيل_الدخول",
        "he": "פרטי_התחברות",
        "ja": "認証情報 資格情報 ログイン情報",
        "zh": "凭据 憑證 登录凭证 登录信息",
        "ko": "자격증명 로그인정보",
    },
    "pin": {
        "en": """pin p1n personal_identification_number *pincode passcode* *passcode puk pin_code atm_code
            unlock_pattern lock_pattern swipe_pattern""",
        "de": "geheimzahl* geheimnummer* pinnummer",
        "fi": "tunnusluku* pinkoodi* pin_koodi",
        "sv, no, da": "pinkod pinkoden pinkode",
        "pl": "pinu",
        "fr": "code_secret code_confidentiel numero_secret",
        "es, pt, it, ca": "numero_secreto codigo_secreto codice_segreto numero_segreto",
        "ru, uk": "пин пинкод пин_код пін пінкод секретный_код",
        "hi": "पिन",
        "ar": "الرقم_السري رقم_سري الرمز_السري",
        "he": "קוד_סודי",
        "th": "รหัสพิน",
        "ja": "暗証番号 暗証コード",
        "zh": "个人识别码 個人識別碼",
        "ko": "핀번호",
    },
    "tan": {"de": "tan"},
    "otp": {
        "en": "otp otps totp hotp otac mtan itan pushtan chiptan smstan phototan *otpcode",
        "hi": "ओटीपी",
        "ar, fa": "رمز_التحقق كود_التحقق رمز_التأكيد رمز_التفعيل کد_تایید کد_تأیید رمز_یکبار_مصرف رمز_پویا",
        "he": "קוד_אימות קוד_חד_פעמי",
        "vi": "ma_xac_minh ma_xac_thuc ma_xac_nhan",
        "th": "รหัสยืนยัน",
        "ja": "認証コード 認証番号 確認コード ワンタイムパスワード ワンタイムコード",
        "zh": "验证码 驗證碼 校验码 校驗碼 动态码 动态口令 動態密碼 一次性密码 一次性密碼 动态密码 认证码 認證碼",
        "ko": "인증번호 인증코드 확인코드 일회용비밀번호",
    },
    "mfa": {
        "en": """mfa 2fa tfa 2sv two_factor 2_factor multi_factor twofactor multifactor two_step 2_step
            authenticator authy""",
        "de, nl, fr, es, it, pt": """zwei_faktor zweifaktor* tweefactor* twee_stap double_authentification
            deux_facteurs dos_factores doble_factor due_fattori dois_fatores""",
        "ru": "двухфакторн*",
    },
    "jwt": {"en": "jwt jwts"},
    "bearer": {"en": "bearer basic_auth http_auth"},
    "code": {
        "en": "code codes cod",
        "de, nl, sv, no, da": "kode koden koda *code",
        "fi, et": "koodi koodin *koodi kood",
        "es, pt, it, ca": "codigo codice codi codigos",
        "ro": "codul codului",
        "pl, cs, sk, hr, tr": "kod kodu kodem kodunuzu kodunu",
        "ru, uk, bg": "код кода кодом коду коды",
        "el": "κωδικος κωδικο κωδικου",
        "hu": "kodot *kod",
        "lt, lv": "kodas kods",
        "ar, fa, he": "كود الكود کد קוד",
        "hi, bn, th": "कोड কোড รหัส",
        "ja, zh, ko": "コード 码 碼 코드",
    },
    "cvv": {
        "en": "cvv cvvs cvv2 cvc cvc2 cvn csc cvvcode",
        "de": "kartenprüfnummer* kartenprüfziffer* prüfnummer prüfziffer",
        "fr": "cryptogramme*",
        "zh": "卡片验证码 信用卡安全码",
    },
    "cardnumber": {
        "en": "ccn ccnum ccnumber cc_number cc_num cardno card_no cardnum",
        "vi": "so_the",
        "zh": "卡号 卡號 银行卡号",
        "ja": "カード番号",
        "ko": "카드번호",
    },
    "pan": {"en": "pan"},
    "pat": {"en": "pat"},
    "cc": {"en": "cc"},
    "bankaccount": {
        "de, sv, no, da": "kontonummer* kontonr bankkonto* bankkontonummer",
        "nl": "bankrekening* rekeningnummer*",
        "fi": "tilinumero* pankkitili*",
        "hu": "szamlaszam* bankszamla*",
        "pl": "numer_konta numer_rachunku nr_konta",
        "cs, sk": "cislo_uctu",
        "hr, sr": "broj_racuna broj_bankovnog_racuna",
        "ru, uk": "номер_счета номер_банковского_счета номер_рахунку расчетный_счет",
        "fr": "numero_de_compte_bancaire compte_bancaire",
        "es": "numero_de_cuenta cuenta_bancaria cuenta_de_banco clabe",
        "pt": "numero_da_conta conta_bancaria conta_corrente",
        "it": "numero_di_conto conto_corrente conto_bancario",
        "tr": "banka_hesap* banka_hesabi*",
        "vi": "so_tai_khoan",
        "ja": "口座番号",
        "zh": "银行账号 银行账户 银行帐号 銀行帳號 銀行帳戶",
        "ko": "계좌번호",
    },
    "ssn": {
        "en": """ssn ssns social_security social_insurance national_insurance national_id nationalid
            national_identity national_identification tax_file_number itin taxpayer_identification ni_number""",
        "en-IN": "aadhaar aadhar adhaar uidai",
        "en-SG, ms, id": "nric mykad ktp nomor_induk",
        "de": """*sozialversicherung* steueridentifikation* steueridentnummer steuerid rentenversicherungsnummer
            personalausweisnummer ausweisnummer ahv_nummer svnr""",
        "nl": "burgerservicenummer* bsn rijksregisternummer",
        "sv, no, da": "personnummer* personnr fødselsnummer* cprnummer cpr_nummer kennitala",
        "fi, et, lv, lt": "henkilotunnus* isikukood* personas_kods asmens_kodas",
        "fr": "securite_sociale",
        "es": "seguridad_social curp cuil numero_de_cedula cedula_de_identidad cedula_de_ciudadania",
        "pt": "seguranca_social cpf cadastro_de_pessoas",
        "it": "codice_fiscale",
        "ro, bg": "cod_numeric_personal егн единен_граждански_номер",
        "pl": "pesel",
        "cs, sk": "rodne_cislo rodneho_cisla",
        "hr, sr, sl": "jmbg emso јмбг",
        "ru, uk": "снилс инн рнокпп серия_и_номер_паспорта",
        "el": "αμκα amka",
        "hu": "taj_szam tajszam",
        "tr": "kimlik_no kimlik_numara* tckn tc_kimlik",
        "he": "תעודת_זהות",
        "hi": "आधार",
        "ar": "رقم_الهوية الرقم_القومي",
        "vi": "can_cuoc cccd cmnd",
        "th": "เลขบัตรประชาชน เลขประจำตัวประชาชน",
        "ja": "マイナンバー 個人番号",
        "zh": "身份证 身分證 身份證",
        "ko": "주민등록번호 주민번호",
    },
    # The same, in words that mean other things too.
    "idlabel": {"es, fi, hr, ro, id": "dni nif hetu oib cnp nik"},
    "privatekey": {
        "zh": "私钥 私鑰",
        "ja": "秘密鍵",
        "ko": "개인키 비밀키",
        "en": "keystore_file keystore_json keytab private_pem pem_key privkey priv_key privatekey ppk nsec xprv",
    },
    "secretkey": {
        "zh": "密钥 密鑰",
        "ko": "시크릿키",
        "en": "apikey apikeys api_secret apisecret service_account_json service_account_key stripe_sk",
        "vi": "khoa_bi_mat khoa_api",
    },
    "mnemonic": {
        "en, fr, es, it": "mnemonic mnemonics mnemonique* mnemonico mnemonica",
        "de, nl": "mnemonisch*",
        "ru": "мнемон*",
        "ja": "ニーモニック",
        "zh": "助记词 助記詞 助记码",
        "ko": "니모닉",
    },
    "connection": {
        "en": """connection_string connectionstring connstring connstr conn_str conn_string database_url databaseurl
            db_url dburl database_uri db_uri mongo_uri mongodb_uri mongo_url redis_url postgres_url mysql_url
            amqp_url jdbc_url dsn kubeconfig sas_url sas_uri sas_token presigned_url incoming_webhook slack_webhook
            discord_webhook teams_webhook mattermost_webhook""",
        "de": "verbindungszeichenfolge verbindungszeichenkette",
        "fr, es, pt, it": "chaine_de_connexion cadena_de_conexion string_de_conexao stringa_di_connessione",
        "ru": "строка_подключения",
        "ja, zh, ko": "接続文字列 连接字符串 連接字串 연결문자열",
    },
    "sessionid": {"en": "phpsessid jsessionid sessid sessionid connect_sid"},
    "mother": {
        "en": "mother mothers mother's mum's moms mom's",
        "de, nl, sv": "mutter moeder* mors",
        "fr, es, it, pt": "mere madre mae materno",
        "pl, ru": "matki matka матер*",
        "ja, zh": "母の 母親 母亲",
    },
    "maiden": {
        "en": "maiden maiden_name birth_name",
        "de": "mädchenname* geburtsname*",
        "nl": "meisjesnaam",
        "sv, no, da": "flicknamn pikenavn pigenavn",
        "fr": "nom_de_jeune_fille nom_de_naissance",
        "es": "apellido_de_soltera",
        "pt": "nome_de_solteira",
        "it": "cognome_da_nubile",
        "pl": "nazwisko_panienskie panienskie",
        "ru": "девичь*",
        "ja, zh": "旧姓 娘家姓 婚前姓",
    },
    "classic": {
        "en": "first_pet first_pet's childhood_nickname childhood_friend street_you_grew_up",
        "de": "erstes_haustier ersten_haustiers",
        "fr, es, it, pt": "premier_animal primera_mascota primer_mascota primo_animale primeiro_animal",
    },
    # Words that ask for one together with others.
    "word": {
        "en": "word",
        "fr": "mot",
        "es": "palabra",
        "pt": "palavra",
        "nl": "woord",
        "de": "wort",
    },
    "words": {
        "en": "words",
        "de, nl": "wörter woorden",
        "fr, es, it, pt": "mots palabras palavras",
        "ru, pl, cs": "слов слова slova",
        "ja, zh, ko": "単語 单词 單詞 단어",
    },
    "phrase": {
        "en, fr": "phrase phrases",
        "es, it, pt, nl": "frase frases",
        "pl, hr, cs, ro": "fraza frazy frazu fraze",
        "ru, uk": "фраз*",
        "tr, id, fi": "ifadesi ifade kalimat frasa lause lauseke",
        "de": "phrasen",
        "ja, zh, ko": "フレーズ 短语 短語 词组 구문 문구",
    },
    "seed": {
        "en": "seed",
        "es": "semilla",
        "ru": "сид",
        "ja, ko": "シード 시드",
        "zh": "种子",
    },
    "wallet": {
        "en": "wallet metamask phantom ledger trezor bitcoin btc ethereum solana bip39 bip_39 blockchain",
        "de, nl": "geldbörse portemonnee krypto*",
        "es, pt, fr, it": "billetera cartera carteira portefeuille portafoglio",
        "pl, ru, uk, tr, id": "portfel* portfela кошел* гаман* cuzdan* dompet",
        "ja, zh, ko, ar": "ウォレット 钱包 錢包 지갑 محفظة المحفظة",
    },
    "secret": {
        "en": "secret secrets",
        "de, nl": "geheim geheime geheimer geheimes geheimen geheimnis",
        "fr": "secrete secretes",
        "es, it, pt": "secreto secreta secretos segreto segreta segredo",
        "sv, no, da": "hemlig* hemmelig*",
        "fi": "salainen salaisuus",
        "pl, cs, sk, hr": "sekret* tajny tajne tajna tajni",
        "ru, uk, bg": "секрет* тайный таен таємн*",
        "hu, tr, id, ms": "titkos gizli rahasia rahsia",
        "el": "μυστικ*",
        "ar, fa, he": "سري السري سرية סודי סודית",
        "hi, th": "गुप्त ลับ",
        "ja, zh, ko": "秘密 シークレット 机密 비밀 시크릿",
    },
    "private": {
        "en, de, fr": "private priv privat privater privaten prive privee",
        "es, it, pt, ro": "privado privada privato privata",
        "pl, cs, sk, hr": "prywatny prywatnego soukromy sukromny privatni privatnog",
        "ru, uk, bg": "приватный приватн* закрыт* частен",
        "fi, hu, tr, id": "yksityinen ozel pribadi peribadi",
        "el": "ιδιωτικ*",
        "ar": "خاص الخاص",
        "he": "פרטי",
    },
    "token": {
        "en": "token tok",
        "fr, tr, ro": "jeton jetonu jetonul",
        "de, sv, no, da, pl, ro": "tokenet tokenu tokenul",
        "ru, uk": "токен токена токену",
        "el": "διακριτικο",
        "hi, ar, th": "टोकन توكن โทเค็น",
        "ja, zh, ko": "トークン 令牌 权杖 토큰",
    },
    "tokens": {
        "en": "tokens",
        "fr": "jetons",
    },
    "key": {
        "en": "key keys",
        "de": "schlüssel schlüssels *schlüssel",
        "nl": "sleutel *sleutel",
        "sv": "nyckel nyckeln *nyckel",
        "no, da": "nøkkel nøkkelen nøgle nøglen *nøkkel *nøgle",
        "fi": "avain avaimen *avain",
        "fr": "cle cles clef",
        "es": "llave llaves claves",
        "pt": "chave chaves",
        "it": "chiave chiavi",
        "ro": "cheie cheia",
        "pl": "klucz klucza kluczem",
        "cs, sk": "klic klice kluc",
        "hr, sr, sl": "kljuc kljuca кључ",
        "ru, uk, bg": "ключ ключа ключом ключи ключів",
        "hu": "kulcs kulcsa kulcsot *kulcs",
        "tr, az": "anahtar anahtari anahtarin* acar",
        "el": "κλειδι κλειδιου",
        "id, ms, vi": "kunci khoa",
        "ar, fa, he": "مفتاح المفتاح کلید מפתח",
        "hi, th": "कुंजी คีย์ กุญแจ",
        "ja, zh, ko": "キー 鍵 金鑰 키",
    },
    "api": {"en": "api"},
    "access": {
        "en": "access",
        "fr, es, it, pt, ro": "acces acceso accesso acesso accesului",
        "de, nl": "zugriff zugriffs zugang zugangs toegang toegangs",
        "sv, no, da": "åtkomst tilgang tilgangs adgang adgangs",
        "fi": "kaytto paasy",
        "pl, cs, sk, hr": "dostepu dostep dostepowy pristupovy pristupu pristupa pristup",
        "ru, uk, bg": "доступ*",
        "el, hu, tr": "προσβαση* hozzaferesi hozzaferes erisim",
        "id, ms, vi": "akses capaian truy_cap",
        "ar, he, th": "الوصول وصول גישה เข้าถึง",
        "ja, zh, ko": "アクセス 访问 存取 訪問 액세스 접근",
    },
    "auth": {
        "en": "auth authn authtoken oauth oauth2 authenticat* authoris* authoriz* refresh csrf sso saml oidc sasl",
        "de, fr, nl, sv": "authentif* authentis* autentis* autentif*",
        "es, it, pt, ro, ca": "autentic* autoriz* autoris*",
        "pl": "uwierzytelni* autoryz*",
        "cs, hu": "autentiz* hitelesit*",
        "ru, uk": "аутентиф* авториз* автентиф*",
        "el": "ταυτοποιησ* αυθεντικοπ*",
        "ar": "المصادقة مصادقة",
        "ja, zh, ko": "認証 认证 認證 인증",
    },
    "login": {
        "en": "login logon signin sign_in sign_on log_in logging_in signing_in log_on",
        "de": "anmelde anmeldung anmelden einloggen anmelde*",
        "nl, sv, no, da": "inlog inloggen inloggning* logga_in innlogging* log_ind",
        "fr": "connexion connecter",
        "es, pt, it": "inicio_de_sesion iniciar_sesion iniciar_sessao",
        "pl, cs, hr": "logowania logowanie zalogowac prihlaseni prihlasovac* prijavu",
        "ru, uk": "вход входа войти логин логина логін входу",
        "hu, tr, id, vi": "bejelentkezes* belepes* giris oturum masuk dang_nhap",
        "ar": "الدخول تسجيل_الدخول",
        "ja, zh, ko": "ログイン サインイン 登录 登錄 登入 로그인",
    },
    "verify": {
        "en, fr, es, pt, it, de, nl, sv, id": "verif* confirma* confirmer conferma activation activate activat*",
        "de": "bestätig* aktivier* freischalt*",
        "nl, sv, no, da": "bevestig* controlecode bekräft* bekreft* godkend*",
        "fi, et": "vahvist* varmenn* kinnit*",
        "pl": "weryfik* potwierdz* aktywac*",
        "cs, sk, hr, sr, sl": "overov* overen* potvrz* potvrd* potrditv* provjer*",
        "ru, uk, bg, mk, sr": "подтвержд* подтверд* провероч* верифик* підтвердж* потвърд* потврд* активац*",
        "hu": "ellenorz* megerosit*",
        "tr": "dogrula* onay*",
        "el": "επιβεβαι* επαληθευ*",
        "id, ms": "pengesahan konfirmasi",
        "ar, fa, he": "التحقق تحقق التأكيد تایید אימות",
        "hi, bn": "सत्यापन যাচাইকরণ",
        "th": "ยืนยัน",
        "ja, zh, ko": "確認 验证 驗證 확인",
    },
    "confirm": {"en": "confirm verify"},
    "onetime": {
        "en": "onetime one_time single_use temporary temp disposable",
        "de": "einmal einmalige* einmaligen",
        "nl, sv, no, da": "eenmalig* engangs engangs*",
        "fi": "kertakaytto*",
        "fr": "usage_unique unique",
        "es, pt, it": "un_solo_uso uso_unico utilizacao_unica monouso temporal dinamic*",
        "pl, cs, sk, hr": "jednoraz* jednokratn*",
        "ru, uk, bg": "одноразов* еднократ*",
        "tr, hu, id, el": "egyszer_hasznalatos tek_kullanim* tek_seferlik sekali_pakai μιας_χρησης",
        "he": "חד_פעמי",
        "zh, ja, ko": "一次性 ワンタイム 일회용",
    },
    "sms": {
        "en": "sms texted text_message text_messages whatsapp",
        "zh, ja, ko": "短信 簡訊 文字",
        "ru": "смс",
    },
    "sent": {
        "en": "sent texted_you emailed mailed received got receive shown displayed generated",
        "de": "gesendet gesendeten geschickt geschickten zugesandt erhalten erhaltenen",
        "nl, sv, no, da": "verzonden ontvangen gestuurd skickat skickade mottagit sendt modtaget",
        "fr": "envoye recu recue",
        "es, pt, it": "enviado recibido enviada enviamos recebido inviato ricevuto",
        "pl, cs": "wyslany otrzymany wyslalismy zaslany poslali odeslan*",
        "ru, uk": "отправлен* отправили прислал* получен* надісла* отриман*",
        "tr, id": "gonderilen gonderdigimiz dikirim",
        "ja, zh, ko": "送信 届いた 发送 收到 받은 전송된",
    },
    "digits": {
        "en": "digit digits",
        "de": "stellige* stelliger stelligen ziffern ziffer",
        "fr, es, it, pt": "chiffres digitos cifras cifre",
        "nl, sv, no, da": "cijfers cijferige siffror siffrig siffret",
        "pl, cs, ru": "cyfrowy cyfry cislic значный цифр цифры",
        "tr": "haneli",
        "ja, zh, ko": "桁 位数 位数字 位 자리",
    },
    "security": {
        "en": "security",
        "de": "sicherheit sicherheits",
        "nl": "beveiliging* beveiligings veiligheid*",
        "sv, no, da": "säkerhet säkerhets sikkerhet* sikkerhed*",
        "fi": "turva* turvallisuus*",
        "fr, es, pt, it, ca": "securite seguridad seguranca sicurezza seguretat securitate",
        "pl, cs, sk": "bezpieczenstw* zabezpiecz* bezpecnost*",
        "hr, sr": "sigurnos* bezbednos* безбеднос*",
        "ru, uk, bg": "безопасност* безпек* сигурност",
        "hu, tr, el": "biztonsag* guvenlik ασφαλεια*",
        "id, ms": "keamanan keselamatan",
        "ar, he": "الأمان أمان אבטחה",
        "ja, zh, ko": "セキュリティ 安全 보안",
    },
    "recovery": {
        "en": "recovery recover restore restoration backup rescue bypass_code",
        "de, nl": "wiederherstell* herstel*",
        "sv, no, da, fi": "återställn* gjenopprett* gendan* palaut*",
        "fr, es, it, pt": "recuper* recupero secours respaldo",
        "pl, cs, hr": "odzysk* obnov* oporav* zapasow*",
        "ru, uk": "восстанов* резервн* відновл*",
        "hu, tr, el, id, vi": "helyreallit* kurtarma yedek ανακτησ* pemulihan khoi_phuc",
        "ar, he": "استرداد الاسترداد שחזור",
        "ja, zh, ko": "復元 リカバリー リカバリ 恢复 恢復 备份 복구 백업",
    },
    "reset": {
        "en": "reset resetting resets",
        "de": "zurücksetz*",
        "fr, es, it, pt": "reinitialis* restablec* reimpost* redefin*",
        "ru": "сброс*",
        "zh, ja, ko": "重置 リセット 재설정",
    },
    "door": {
        "en": "unlock unlocking door alarm gate garage safe vault lockbox entry keypad lock disarm",
        "de": "entsperr* türcode tür alarmanlage tresor",
        "fr, es, it, pt": "deverrouillage desbloqueo sblocco desbloqueio porte puerta",
        "ja, zh, ko": "解锁 解鎖 ロック解除 잠금",
    },
    "combination": {"en": "combination combo"},
    "crypt": {
        "en": """bitlocker filevault luks veracrypt encryption decryption encrypt decrypt signing hmac aes rsa
            master root admin service deploy subscription consumer license licence shared preshared pre_shared
            unseal webhook_signing stream ingest management server storage app application client developer dev
            production prod live sandbox integration merchant""",
        "de": "verschlüsselung* entschlüsselung* lizenz* haupt",
        "nl": "versleuteling*",
        "fr, es, it, pt": "chiffrement cifrado cifratura criptografia licencia licenca licenza encriptacion",
        "tr": "sifreleme*",
        "ru": "шифрован* лиценз*",
        "ja, zh, ko": "暗号化 加密 암호화",
    },
    "ssh": {"en": "ssh pgp gpg ed25519 openssh"},
    "sharing": {"en": "personal bot runner push device invite join cluster"},
    "card": {
        "en": "card cards",
        "de": "karte karten",
        "nl, af": "kaart",
        "sv, no, da": "kort kortet korts",
        "fi": "kortti kortin",
        "fr": "carte carte_bleue",
        "es, ca": "tarjeta targeta",
        "pt": "cartao",
        "it": "carta",
        "ro": "cardul cardului",
        "pl, cs, sk, hr, sr, bs": "karta karty kartu kartica kartice",
        "ru, uk, bg": "карта карты карту картой карт картки картка картку картата",
        "hu": "kartya kartyaja *kartya",
        "tr, az": "kart karti kartin* kartim*",
        "el": "καρτα καρτας",
        "ar, fa, he": "بطاقة البطاقة کارت כרטיס",
        "hi, bn, th": "कार्ड কার্ড บัตร",
        "ms": "kad",
        "ja, zh, ko": "カード 卡 카드",
    },
    "banking": {
        "fr, es, it, pt, ro": "bancaire bancaria bancario bancar bancara",
        "pl, cs, sk, hr, ru, uk, bg": "bankowe bankowego bankowej bankovni bankovna банковск* банківськ* банков",
        "tr": "banka",
        "ar, hi": "البنكي البنكية बैंक",
        "zh, ja, ko": "银行 銀行 은행",
    },
    "credit": {
        "en": "credit debit payment visa mastercard amex american_express maestro unionpay diners jcb",
        "de": "kredit giro",
        "fr, es, it, pt, ro": "credito debito",
        "sv, no, da, fi, nl": "bankkort betaalpas betalkort luotto pankki",
        "pl, cs, sk, hr": "kredytow* kreditni kreditna kreditnej platebni platniczej platnicza",
        "ru, uk, bg": "кредитн* дебетов* платежн*",
        "hu, tr, el": "hitel kredi πιστωτικ* χρεωστικ*",
        "ar, he, th": "الائتمان ائتمان אשראי เครดิต เดบิต",
        "ja, zh, ko": "クレジット デビット 信用 신용 체크",
        "id": "kartu_kredit kartu_debit",
    },
    "number": {
        "en": "number numbers num nr nbr",
        "de, nl, sv, no, da": "nummer nummern numret *nummer",
        "fr, es, it, pt": "numero numeros",
        "fi, et": "numeron *numero numero*",
        "ro": "numar numarul",
        "pl, cs, sk, hr, sr": "numer cislo broj numeru cisla",
        "ru, uk, bg, sr": "номер номера номером номерът број",
        "hu": "szam szama *szama *szam",
        "tr, az": "numara* nomresi",
        "el": "αριθμος αριθμο αριθμου",
        "ar, fa, he": "رقم شماره מספר",
        "hi, bn, th": "नंबर संख्या নম্বর หมายเลข เลข",
        "id, ms": "nomor nombor",
        "ja, zh, ko": "番号 号码 號碼 번호",
    },
    "no": {"en": "no"},
    "numberof": {
        "en": "number_of",
        "fr, es, it, pt": "numero_de_la numero_de_su numero_de_tu numero_de_votre",
    },
    "expiry": {
        "en": "expiry expiration expires exp expdate valid_thru valid_through mm_yy",
        "de": "ablaufdatum gültigkeit* gültig_bis",
        "nl, sv, no, da": "vervaldatum utgångsdatum utløpsdato udløbsdato",
        "fr, es, it, pt": "caducidad vencimiento validade scadenza validite peremption",
        "pl, cs, ru": "waznosci platnost* срок_действия",
        "ja, zh, ko": "有効期限 有效期 유효기간",
    },
    "side": {
        "en": "front back reverse rear face",
        "de": "vorderseite rückseite",
        "fr, es, it, pt": "recto verso reverso dorso frente retro",
    },
    "bank": {
        "en": "bank banking checking savings_account",
        "fr, es, it, pt": "banque banco banca",
        "ru": "банка банк",
        "ar": "بنك البنك",
    },
    "account": {
        "en": "account acct accounts",
        "de, sv, no, da, pl": "konto kontos konta",
        "fr, es, it, pt": "compte cuenta conta conto",
        "nl, fi": "rekening tili",
        "ru, hr, tr": "счет счета racun racuna hesap hesabi",
        "ar, hi": "حساب الحساب खाता खाते",
        "zh, ja, ko": "账户 帳戶 口座 계좌 계정",
    },
    "identity": {
        "en": """passport identity driving_licence driver's_license drivers_license driver_license driving_license
            driver's_licence drivers_licence driver_licence id_card identity_card""",
        "de": "reisepass* ausweis führerschein* personalausweis*",
        "nl, sv": "paspoort* rijbewijs körkort*",
        "fr, es, it, pt": "passeport pasaporte passaporto passaporte carte_d_identite permis_de_conduire cedula",
        "pl, cs": "paszport* dowodu_osobistego dowod_osobisty obcansky obcanskeho",
        "ru, uk": "паспорт*",
        "tr, ar": "pasaport جواز_السفر",
        "ja, zh, ko": "旅券 パスポート 护照 護照 여권 驾驶证 運転免許証",
    },
    "quiz": {
        "en": "question questions",
        "de, nl, sv": "frage fragen vraag fråga *frage *vraag",
        "fr, es, it, pt": "pregunta domanda pergunta",
        "pl, ru": "pytanie вопрос*",
        "ja, zh, ko": "質問 问题 問題 질문",
    },
    "answer": {
        "en": "answer answers",
        "de, nl, sv": "antwort antwoord svar",
        "fr, es, it, pt": "reponse respuesta risposta resposta",
        "pl, ru": "odpowiedz ответ*",
        "ja, zh, ko": "答え 答案 답변",
    },
    "session": {
        "en, fr": "session sess",
        "de, es, it, pt, pl": "sitzung* sesion sessione sessao sesji",
        "ru, ja, zh, ko": "сесси* セッション 会话 세션",
    },
    "header": {"en": "header headers"},
    "cookie": {
        "en": "cookie cookies",
        "ja, ko, ru": "クッキー 쿠키 куки",
    },
    "webhook": {"en": "webhook webhooks"},
    "magic": {"en": "magic_link reset_link login_link sign_in_link signin_link"},
    "link": {"en": "link url uri"},
    "vendor": {
        "services": """openai open_ai anthropic claude gemini google gcp aws amazon azure github git_hub gitlab
            bitbucket slack discord telegram twilio stripe paypal shopify sendgrid mailgun mailchimp notion asana
            trello airtable figma hubspot salesforce zendesk intercom datadog sentry newrelic new_relic pagerduty
            grafana cloudflare vercel netlify heroku digitalocean digital_ocean linode supabase firebase mongodb
            elasticsearch algolia pinecone huggingface hugging_face cohere mistral groq perplexity deepseek xai
            openrouter elevenlabs npm pypi docker dockerhub docker_hub terraform okta auth0 twitter facebook
            instagram linkedin youtube spotify dropbox zoom openweather openweathermap openweather_map tavily serper
            serpapi firecrawl jenkins circleci kubernetes snowflake databricks binance coinbase kraken infura
            etherscan mapbox resend postmark mixpanel amplitude posthog clerk neon planetscale upstash fly_io
            alibaba tencent baidu dify langsmith langfuse wandb cerebras jina deepgram assemblyai hf tailscale ngrok
            doppler""",
    },
    # Who or what has a secret.
    "user": {
        "en": "user username users usr userid user_name",
        "de, fr, es, pt, it": "benutzer benutzername nutzer utilisateur usuario utente",
        "nl, sv, pl, ru": "gebruikersnaam gebruiker användarnamn uzytkownika имя_пользователя пользователя",
        "ja, zh, ko": "ユーザー名 ユーザー 用户名 用户 사용자",
    },
    "system": {
        "en": """db database sudo wifi wi_fi wlan ftp sftp smtp imap unix windows router network computer laptop vpn
            zip pdf keystore truststore ldap mysql postgres postgresql redis mongo rdp""",
    },
    "email": {
        "en": "email emails mail inbox",
        "fr, es, pt, it": "courriel correo posta",
        "ru, ja, zh, ko": "почта почты почту メール 邮箱 邮件 이메일",
    },
    "phone": {
        "en": "phone telephone mobile cell cellphone smartphone",
        "de, nl": "telefon handy telefoon",
        "fr, es, pt, it": "telefono telefone movil celular",
        "ru, ja, zh, ko": "телефон* 電話 手机 휴대폰 전화",
    },
    # What there is to know about a secret without the secret itself.
    "meta": {
        "en": """last_changed last_used last_updated chapter law help problem problems issue issues trouble types
            kind kinds format formats length lengths count counts limit limits size sizes policy policies manager
            managers strength complexity generator generators protection protected protect rule rules requirement
            requirements rotation rotate age lifetime ttl duration validity days hours minutes colour color style
            theme layout position shape icon hint hints provider providers issuer brand holder owner cardholder
            price symbol standard address contract usage budget cost rate column attribute table directory dir
            folder version algorithm scope scopes permission permissions role roles status date time scheme strategy
            method methods mode flow option options setting settings preference preferences documentation docs guide
            tutorial article topic book film movie song place placement field fields form visibility autofill screen
            environment parameter template category level review rating summary description reason purpose frequency
            interval schedule reminder notification notifications warning wording theft breach leak leaks hygiene
            best_practices prefix suffix pattern encoding charset entropy history support supported enabled
            detection detector scanner scanning handling team contact agent officer questionnaire family series
            model parity quantity qty bits bytes minimum maximum min max total average sum digest fingerprint
            checksum holders store stores engine sharing audience claim claims window ratio habit habits tips advice
            reuse fatigue cracking cracker hash hashes benefits benefit office stage audit slot slots transfer
            balance""",
        "de": "länge bezeichnung art richtlinie richtlinien anzahl stärke regeln ablauf farbe hinweis verwaltung",
        "nl": "lengte soort beleid aantal sterkte",
        "sv, no, da": "längd lengde længde antal antall styrke",
        "fi": "nimi pituus tyyppi maara",
        "fr": "longueur politique libelle intitule couleur force",
        "es": "longitud tipo politica cantidad etiqueta titulo fortaleza",
        "pt": "comprimento tamanho politicas quantidade forca",
        "it": "lunghezza criteri quantita etichetta",
        "hu, tr": "neve hossza tipusa adi uzunlugu turu sayisi",
        "hi": "नाम लंबाई",
        "ja": "長さ 種類 ポリシー 数 強度 有効期限日数",
        "zh": "长度 長度 类型 類型 策略 数量 數量 强度 過期 过期 管理器 提示",
        "ko": "길이 종류 정책 개수 강도",
    },
    # The same: what it is called and where it is.
    "naming": {
        "en": """name names label labels title titles alias nickname path filename file_name identifier reference
            ref location variable env_var environment_variable slug""",
        "de, nl, sv, no, da": "pfad titel namen naam namn navn",
        "fr, es, pt, it": "nom chemin nombre ruta nome",
        "ja, zh, ko": "名前 名称 名稱 이름",
    },
    # The same in languages that need no preposition between the two.
    "metagen": {
        "pl": "nazwa dlugosc rodzaj polityka liczba ilosc",
        "cs, sk": "nazev delka dlzka pocet zasady nazov",
        "hr, sr": "naziv duljina duzina vrsta",
        "ru, uk, bg": "название длина тип количество политика сложность назва довжина дължина имя",
        "el": "ονομα μηκος",
        "ar, he": "اسم طول نوع عدد שם אורך",
        "id, ms, vi": "nama panjang jenis jumlah do_dai ten",
        "th": "ชื่อ ความยาว",
    },
    "id": {"en": "id ids"},
    "count_of": {"en": "numbers_of how_many how_much count_of amount_of list_of names_of name_of"},
    "value": {
        "en": """value values content contents text string copy one any each last first four three part rest
            characters half""",
        "de": "wert inhalt letzten",
        "fr, es, it, pt": "valeur contenu valor contenido ultimos derniers conteudo valore contenuto copie copia",
        "ru": "значение содержимое последние",
    },
    # The words of asking.
    "ask": {
        "en": """enter paste provide give input insert write re_enter reenter retype repeat submit share send tell
            reveal put fill choose create set pick key_in fill_in specify upload login_with sign_in_with log_in_with
            authenticate_with signin_with reply respond answer_with need needs want wants require requires what's
            what_is whats what_was what_are copy_paste scan read_out dictate say""",
        "de": "geben gib eingabe tippen schreiben nennen teilen brauchen benötigen benötigt",
        "nl": "voer invoeren vul geef plak opgeven",
        "sv, no, da": "ange skriv skriva skriv_inn tast indtast oppgi angi klistra indsaet oplys",
        "fi, et": "syota kirjoita anna liita sisesta",
        "fr": "entrez saisissez saisir tapez indiquez donnez fournissez renseignez collez entrer indiquer quel_est",
        "es": """introduzca introduce ingrese ingresa escriba escribe teclee proporcione indique pegue digite
            cual_es facilite""",
        "pt": "insira informe introduza escreva forneca cole",
        "it": "inserisci inserire inserisca digita digitare fornisci scrivi incolla immetti qual_e",
        "ro": "introduceti introdu scrieti furnizati tastati",
        "pl": "wpisz podaj wprowadz wklej napisz",
        "cs, sk": "zadejte zadajte napiste vlozte uvedte vlozit zadat",
        "hr, sr, sl": "unesite upisite vnesite navedite unesi унесите",
        "ru, uk, bg": "введите укажите напишите вставьте сообщите ввести введіть вкажіть въведете напишете",
        "hu": "adja add irja ird illessze kerjuk",
        "tr": "gir",
        "el": "εισαγετε εισαγαγετε πληκτρολογηστε γραψτε",
        "id, ms, vi": "masukkan ketik tulis isi nhap dien",
        "sw, tl": "ingiza weka andika ilagay",
        "ar, he": "أدخل ادخل اكتب إدخال הזן הזינו הקלד הקש הכנס",
        "th": "กรอก ใส่ ป้อน",
        "ja": "ご記入",
        "zh": "输入 輸入 填写 填寫 提供 粘贴",
        "es, pt, it": "repita repetir repite repeticion ripeti",
    },
    # The same where they come last, and one that is also a kind.
    "asklast": {
        "de": "eingeben angeben einfügen eintippen",
        "sv, no, da, fi": "anges",
        "tr": "girin giriniz yazin yaziniz belirtin",
        "fa, hi, bn": "وارد_کنید दर्ज_करें लिखें डालें লিখুন দিন",
        "ja, zh, ko": "入力 教えて 入力してください 입력 알려 적어",
        "hu": "megadasa",
    },
    "type": {"en": "type typ supply state"},
    "needed": {
        "en": "please needed required here again now twice below optional",
        "de": "bitte erforderlich erneut wiederholen wiederholung",
        "fr, es, it, pt": "requis obligatorio requerido richiesta obligatoire por_favor svp",
        "ru, zh, ja, ko": "пожалуйста требуется 请 請 必填 ください 필수",
    },
    "article": {
        "en": """the a an this new old current existing own actual real valid same full corporate following complete
            whole just only also""",
        "de": "die das den dem ein eine einen neues neue aktuelles sie",
        "nl, sv, no, da": "het een nieuw nieuwe huidige ett en ny nytt nye nuvarande",
        "fr": "le la les un une nouveau nouvelle actuel l",
        "es": "el los nueva nuevo una",
        "pt, it": "o os nova novo atual il lo gli i nuova attuale",
        "pl, cs, ru, bg": "nowe nove новый",
        "zh, ja, ko": "新 새",
    },
    "your": {
        "en": "your my our their his her its",
        "de": "ihr ihre ihren ihrem dein deine deinen mein",
        "nl, sv, no, da": "uw je jouw mijn din ditt dine dit",
        "fr": "votre vos ton ta mon ma",
        "es": "su sus tu tus mi",
        "pt, it": "sua seu suas seus teu minha meu tua tuo vostra",
        "pl, cs, sk, hr": "swoje swoj twoje twoj vase vas sve vasu",
        "ru, uk, bg": "ваш ваша ваше вашего свой свою вашу вашата вашето",
        "ja, zh, ko": "あなたの お客様の 您的 你的 我的 귀하의 당신의",
    },
    # Words by which others belong together ...
    "of": {
        "en": "of",
        "fr, es, it, pt, ca": "de du da do dos del della dell dello di d par por",
        "de, nl, sv": "der des von vom aus van av fra från",
        "pl, cs, sk": "z ze od",
        "ru, uk, bg": "из от з від по",
        "ja, zh": "の 的",
        "el": "της του",
    },
    "at": {"en": "from via by in on at out into with"},
    # ... and those after which another thing is spoken of.
    "for": {
        "en": """for to about regarding concerning before after if once when that using so until unless because than
            behind against under over during between among near within whose whom used owns""",
        "de": "für zur zum über bei wenn falls nachdem wegen",
        "nl, sv, no, da": "voor til medan hvis",
        "fr, es, it, pt": "pour para con per avec sobre cuando quand quando",
        "pl, cs, ru": "dla przy jezeli pokud для чтобы если с",
    },
    "conj": {
        "en": "and or plus",
        "de, nl, fr, es, it, pt": "und oder et ou y e ed",
        "pl, ru, sv": "oraz и или och eller og",
    },
    "aux": {
        "en": """is are was were be been do_you does did should shall can could would may might must has have had
            being changed expired failed found updated saved stored works worked succeeded accepted rejected rotated
            revoked leaked entered incorrect invalid wrong""",
        "de, fr, es": "ist sind wird wurde soll kann hat est sont esta son es",
    },
    "will": {
        "en": "will later afterwards we'll you'll i'll separately elsewhere",
        "de, fr, es": "werden später anschliessend plus_tard despues luego",
    },
    "question": {
        "en": "how where why who which whether",
        "de, fr, es": "wie wann wo warum welcher welche welchen donde como",
    },
    # Words that deny.
    "neg": {
        "en": """not never don't dont do_not without cannot can't won't doesn't isn't aren't nor avoid exclude
            excluding except instead rather other_than none omit remove redact strip no_need needn't shouldn't
            mustn't""",
        "de": "nicht kein keine keinen keinem nie niemals ohne weder statt",
        "nl, sv, no, da": "niet geen nooit zonder inte ingen inget aldrig utan ikke aldri uden uten",
        "fr": "ne pas jamais sans aucun aucune",
        "es, pt, it": "nunca sin jamas nao sem non mai senza nessuna ninguna",
        "pl, cs, sk, hr": "nigdy bez ne_zadavejte nikdy nezadavejte nikada nemojte",
        "ru, uk, bg": "не никогда без нет ні никога",
        "fi, hu, tr": "ala ei alkaa soha asla girmeyin",
        "ar, he": "لا بدون אל ללא לא",
        "ja": "しないで 入力しないで",
        "zh": "不要 请勿 請勿 勿 无需 無需 不需要 切勿 别",
        "ko": "마세요 없이 않",
    },
    # Topics in which the words of secrets mean something else.
    "t_map": {
        "en": """map maps board dashboard top chat channel tweet post posted comment tab thread sidebar marker gpio
            arduino raspberry esp32 esp8266 led connector pinout chip microcontroller bowling sewing lapel enamel
            badge brooch pinterest dowel homepage feed tack corkboard relay servo bolt hairpin hinge""",
    },
    "t_postal": {
        "en": "postal zipcode zip_code postcode district locality delivery india village taluk street shipping",
        "fr, es, de": "cp postleitzahl plz",
    },
    "t_shop": {
        "en": """booking flight hotel reservation ticket restaurant airline appointment shipment rma train order
            discount promo coupon voucher referral campaign affiliate""",
    },
    "t_prog": {
        "en": """python javascript typescript snippet source programming program lint linter regex html css sql
            script java rust golang compile refactor bug""",
    },
    "t_text": {
        "en": """llm stop eos bos pad mask unk special separator sep sentinel end start nlp lexer vocabulary vocab
            bpe output context completion sync resume placeholder design""",
    },
    "t_page": {"en": "page paging pagination continuation cursor next previous"},
    "t_coin": {
        "en": """erc20 erc_20 erc721 nft ticker usdc usdt swap defi airdrop mint governance utility meme liquidity
            staking native""",
    },
    "t_play": {
        "en": """pokemon trading deck game library loyalty membership sim sd graphics graphic video sound memory
            business greeting postcard score flash flashcard report punch time_card uno tarot collector playing
            kanban tcg baseball yugioh wild ui anki study rewards club fidelity""",
    },
    "t_erl": {"en": "erlang elixir beam punctuality"},
    "t_degree": {
        "en": """academic professional teaching teacher speaker education diploma certificates medical press
            university degree degrees educational author's nursing verifiable""",
    },
    "t_public": {
        "en": "public publishable",
        "de, fr, es, ru": "öffentlich* publique publica pubblica открыт* публичн*",
    },
    # Words that only look like the others.
    "plain": {
        "en": """keyboard keyboards keyword keywords keynote passwordless 1password lastpass keepass bitwarden
            dashlane authority authorities author monkey turkey hotkey passing passive passion compass bypass
            bypassing iban token_count key_results key_takeaway key_phrase key_phrases key_signature secret_santa
            secret_garden secret_service code_of_conduct do_not_forget don't_forget dont_forget not_only
            password_manager password_managers password_vault pin_this pin_up boarding_pass bus_pass ski_pass
            day_pass season_pass guest_pass confirmed email_confirmation credit_score source_code""",
        "de": "schlüsselwort* schlüsselwörter* passagier* passfoto",
        "nl, sv, no, da": "trefwoord* sleutelwoord* nyckelord* nøkkelord* nøgleord*",
        "fi, et, hu": "avainsana* votmesona kulcsszo*",
        "fr": "mot_cle mots_cles mots_cle code_postal code_promo",
        "es": "palabra_clave palabras_clave puntos_clave punto_clave codigo_postal codigo_promocional fecha_clave",
        "pt": "palavra_chave palavras_chave",
        "it": "parola_chiave parole_chiave codice_postale codice_promozionale codice_sconto",
        "ro": "cuvant_cheie cuvinte_cheie cod_postal",
        "pl": "slowo_kluczowe slowa_kluczowe kluczowe haslo_reklamowe kod_pocztowy kod_rabatowy",
        "cs, sk, hr": "klicove klucove kljucna",
        "ru, uk, bg": "ключев* ключов* код_города код_страны почтовый_индекс",
        "tr, id, vi": "anahtar_kelime* kata_kunci tu_khoa",
        "el": "λεξη_κλειδι λεξεις_κλειδια",
        "ar, fa, he": "الكلمات_المفتاحية كلمة_مفتاحية کلیدواژه מילת_מפתח",
        "ja": "キーワード キーボード",
        "zh": "关键词 關鍵詞 关键字 關鍵字 键盘 鍵盤 密码学 密碼學 密码管理器 问候",
        "ko": "키워드 키보드 스키 위키 암호화폐",
    },
    # Punctuation.
    "stop": {
        "marks": ". ; ! ? : … 。 ！ ？ ： ； ।",
    },
    "line": {
        "marks": "¶",
    },
    "comma": {
        "marks": ", / & + | 、 ，",
    },
    "paren": {
        "marks": "( ) [ ] （ ）",
    },
}

MARKS = ("stop", "line", "comma", "paren")
"""The signs of punctuation."""

IN_COMPOUNDS = """password pin tan otp mfa code cvv card credit number key api access auth login verify onetime sms
    security recovery reset crypt secret private token account bank user system email phone digits expiry session
    cookie seed phrase word words wallet quiz answer identity meta naming pass"""
"""Signs of words that others are made of: ``Kreditkartennummer``, ``apikey``."""

GROUPS: Mapping[str, str] = {
    "det": "article your",
    "asks": "ask type confirm",
    "about": "meta naming metagen id email phone link",
    "break": "stop line paren",
    "holder": "user login account email system phone vendor wallet",
    "keeper": "api access auth secret crypt vendor wallet account login recovery security sharing webhook",
    "sender": "verify confirm auth onetime sms mfa login recovery reset security access door otp",
    "keys": "key clave",
    "banks": "bank banking",
    "cards": "credit bank banking",
    "bearer_of": """user login account email system phone vendor wallet access auth api session sharing verify
        confirm reset recovery secret security crypt webhook private onetime""",
    "elsewhere_token": "t_text t_page t_coin meta naming",
    "elsewhere_card": "t_play identity t_shop",
    "np": """x user login account system email phone vendor wallet num crypt auth access api secret private onetime
        verify confirm security bank banking credit card sms mfa session sharing digits no number recovery mother
        identity words word""",
    "noun": "np of at det value t_public conj comma",
    "extra": "det needed asklast",
    "trigger": """password clave pass credential pin tan otp mfa jwt bearer cvv cardnumber pan cc bankaccount ssn
        privatekey secretkey mnemonic connection sessionid maiden classic seed secret token key code card credit bank
        combination tokens cookie identity security recovery wallet magic pat digits header banking idlabel""",
    "little": "phrase words digits",
}
"""Names for several signs at once."""

TRIGGER = "[trigger] | (?: ^ | line) [asks det]* [little] [extra]* (?: line | $)"
"""What every request for a secret holds."""


class Rule(NamedTuple):
    """
    A way to ask for a secret.

    Attributes:
        kind: What is asked for.
        says: A pattern of signs.  ``~`` stands for up to three words that
            only link, ``x`` for a word that nobody knows, ``num`` for a number.
        unless: Signs that, anywhere in the texts of the field, make it mean
            something else.
    """

    kind: SecretKind
    says: str
    unless: str = ""


RULES: tuple[Rule, ...] = (
    Rule("private_key", "privatekey | (private | ssh) ~ keys | keys ~ (private | ssh)"),
    Rule(
        "recovery_phrase",
        "(recovery | seed | secret | wallet | mnemonic) ~ (recovery | seed | secret)? ~ (phrase | words)",
    ),
    Rule("recovery_phrase", "(phrase | words) ~ (recovery | seed | secret | wallet | mnemonic)"),
    Rule("recovery_phrase", "mnemonic ~ (seed | code) | wallet ~ seed | seed ~ wallet"),
    Rule("one_time_code", "(onetime | mfa | sms | otp) ~ password | (password | clave) ~ onetime"),
    Rule("card", "cvv | cardnumber", "t_play"),
    Rule(
        "card",
        "(?<! [elsewhere_card]) card ~ (security | verify | confirm | auth | secret)? ~ (code | pan | number | no)",
        "t_play",
    ),
    Rule("card", "(security | verify | confirm) ~ (code | number) [for of at det]{0,3} card | cc ~ number"),
    Rule("card", "number ~ cards? ~ (card | credit) | numberof det{1,3} cards? ~ card | pan ~ card", "t_play identity"),
    Rule("card", "(credit | card) ~ expiry | expiry [for of at det]{0,3} cards? card", "t_play identity"),
    Rule("card", "cards [of at det]{0,2} card | card [of at det]{0,2} cards", "t_play"),
    Rule(
        "card",
        "(num | number | digits) [num digits x det of at for value]{0,4} side [of at for det x]{0,4} (card | credit)",
    ),
    Rule("card", "num ~ digits [of at for det x]{0,3} side", "t_play"),
    Rule("card", "account number [for of at det]{0,3} card"),
    Rule("identity_number", "ssn | identity ~ (number | no | code) | number ~ identity"),
    Rule("bank_account", "bankaccount | banks ~ account ~ number? | account ~ number? ~ banks"),
    Rule("security_answer", "mother ~ maiden | maiden ~ mother | [naming count_of of det]{0,4} classic"),
    Rule(
        "security_answer",
        "(security | secret | recovery) ~ (quiz | answer) | (quiz | answer) [for of at det]{0,3} (security | secret)",
    ),
    Rule(
        "session", "sessionid | (session | login | auth) ~ cookie | cookie ~ (session | login | auth | header | value)"
    ),
    Rule("connection", "(connection | magic) link?"),
    Rule(
        "password",
        "password | (user | login | account | email | system | vendor | crypt | sharing) pass",
    ),
    Rule("password", "(user | login) [conj comma] pass"),
    Rule("password", "pass ~ word | word ~ pass | secret ~ word | word ~ secret"),
    Rule("password", "clave ~ (access | login | user | account | email | system | vendor | bank | secret)"),
    Rule("password", "(login | access | auth | account | system | vendor | api | bank) ~ credential"),
    Rule("password", "credential ~ (login | access | auth | account | system | vendor | api | bank)"),
    Rule("one_time_code", "otp", "t_erl"),
    Rule(
        "one_time_code",
        "(?<! t_shop) (?: sender | email | num ~ digits) ~ (code | tan) (?! [for of at det]{1,3} t_shop)",
        "t_prog t_postal",
    ),
    Rule(
        "one_time_code",
        "(?<! t_shop) code (?: [of at det x]{0,3} sender | for ~ (auth | login | mfa | sms))",
        "t_prog t_postal",
    ),
    Rule(
        "one_time_code",
        "(?<! t_shop) code [of at for det x user]{0,6} (sent | sms) | sent [of at for det x]{0,5} code",
        "t_prog t_postal",
    ),
    Rule("one_time_code", "(door | security) ~ combination | combination [of for det]{0,3} door"),
    Rule("pin", "secret ~ (code | number) | (code | number) ~ secret"),
    Rule("pin", "pin", "t_map t_postal"),
    Rule("api_key", "secretkey | api ~ (keys | secret) | keys ~ api | access ~ key id"),
    Rule(
        "api_key",
        "keeper ~ (keys | secret) | (system | user) ~ secret",
    ),
    Rule(
        "api_key",
        "key ~ (secret | access | crypt | auth | recovery | vendor)",
    ),
    Rule("token", "vendor ~ pat | jwt | bearer ~ (token | value) | (auth | access | token) ~ bearer"),
    Rule(
        "token",
        "bearer_of ~ (token | tokens)",
    ),
    Rule(
        "token",
        "token ~ (access | api | auth | login | session | secret | security | verify | vendor)",
    ),
)
"""What asks for a secret wherever it stands: in a name, a title or a sentence."""

LABELS: tuple[Rule, ...] = (
    Rule("password", "^ [asks det user login]* (pass | clave) [extra for]* $"),
    Rule("password", "(?<! t_degree) credential (?= [break needed asklast comma for conj] | $)", "t_degree"),
    Rule("one_time_code", "^ [asks det]* (tan | mfa) [extra]* $"),
    Rule("identity_number", "^ [asks det number of]* idlabel [number extra]* $"),
    Rule("token", "^ [asks det]* bearer [extra]* $"),
    Rule(
        "token",
        """(?<! [elsewhere_token]) token value?
            (?= [break for needed asklast comma at conj] | of [det vendor user account system] | $)""",
        "t_coin",
    ),
    Rule(
        "api_key", "(?<! [elsewhere_token t_play]) secret value? (?= [break needed asklast comma conj] | $)", "t_play"
    ),
    Rule("token", "(auth | bearer) ~ header (?= value | [break extra] | $)"),
    Rule("recovery_phrase", "^ [asks det]* mnemonic [extra]* $"),
    Rule("session", "^ [asks det vendor]* cookie [extra]* $"),
)
"""What asks for a secret as the name or the title of a field."""

SENTENCES: tuple[Rule, ...] = (
    Rule(
        "password",
        "(?<= [asks det x vendor system user]) credential (?= [break needed asklast comma for at conj] | $)",
        "t_degree",
    ),
    Rule(
        "password",
        "(?<= [asks det]) (pass | clave) (?= [break needed asklast comma for at conj] | $)",
        "t_degree",
    ),
    Rule(
        "token",
        "(?<= [asks det x vendor system user]) token (?= [break needed asklast comma for of at conj] | $)",
        "t_coin t_page",
    ),
    Rule("api_key", "(?<= [asks det vendor]) secret (?= [break needed asklast comma conj] | $)", "t_play"),
    Rule("one_time_code", "(?<= [asks det]) tan (?= [break needed asklast comma conj] | $)"),
    Rule("recovery_phrase", "num ~ conj? num? words ~ wallet | (?<= [asks det]) mnemonic"),
)
"""What asks for a secret in a sentence."""

LITTLE: tuple[tuple[SecretKind, str, str, str], ...] = (
    ("one_time_code", "code | digits", "sms | mfa | otp | sent | (phone | email) ~ code", "t_shop t_prog t_postal"),
    ("card", "pan | cc", "card | credit | num ~ digits", "t_play"),
    ("token", "pat", "token | access", ""),
    ("recovery_phrase", "phrase | words | seed | mnemonic", "wallet | recovery | num ~ conj? num? words", ""),
)
"""
Names and titles that say too little alone.

For each kind: what the name or title is, what the description or the message
then says, and what makes it mean something else.
"""

CONTEXTS: Mapping[str, str] = {
    # What follows a secret's name where only something about it is asked for: "password length".
    "about_after": """[x expiry reset recovery verify vendor session account login user card key token num system crypt
        security det auth t_postal]{0,3} (about | reset | expiry | t_public | t_map | type (?! needed))""",
    # What goes before it: "name of the ...".
    "about_before": """(?: (meta | naming | metagen | id | email | phone | link) [noun for]{0,4} [of for at] [noun]{0,4}
        | [count_of numberof] [noun]{0,3} | metagen [noun]{0,2} | x of det* | words at det*) $""",
    # The beginning of a description that says that only a name is asked for.
    "about_text": """^ [asks det]{0,3} (?: naming | id | metagen | count_of)
        [x of at for det vendor user account system login api access crypt]{0,5} ([trigger])""",
    # What makes another word the thing that is asked for.
    "elsewhere": "(?: for | aux | will) [^ break comma asks]* $",
    # What asks about it: "how to choose a password".
    "question": "question [^ break comma]* $",
    # What says that it is not asked for.
    "denied": "(?: neg | no) (?: (?! comma asks) [^ break]){0,12} $",
    "denied_after": "[aux det will]{0,3} x? neg | [aux will] (?! needed)",
    "negation": "neg",
    # What says in a sentence that it is asked for, before or after its name.
    "asked": """^ (?! [break]? for asks [^ asks]* $) .* (?<! will)
        asks of? [^ break for of question aux neg no meta naming will]{0,6}
        (?: value [^ break for question aux]{0,4})? $""",
    "asked_after": "[x of det needed]{0,3} asklast",
    # A sentence that begins with the secret's name, and one that is no more than that.
    "alone": "[stop line]? det{0,2} [np]{0,5} (?: [conj comma] det? [np]{0,3})? (?: value of det{0,2})? $",
    "not_alone": "[aux will]",
    "short": "[extra]* (?: for .*)? $",
    # Fields that are for something else, and fields for anything.
    "subject": "[about user t_prog]",
    "generic": "[asks det answer value number code words phrase digits x]{0,3}",
}
"""Patterns of signs around a secret's name."""

GIVEAWAYS: tuple[tuple[SecretKind, str, str], ...] = (
    (
        "private_key",
        r"\S{0,99}\.ssh/id_[a-z0-9]+\b(?!\.pub)|id_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)"
        r"|wallet\.dat\b|[\w-]{0,60}\.(?:p12|pfx|ppk)\b",
        "naming | meta | question",
    ),
    (
        "api_key",
        r"(?:sk-|sk_live|sk_test|rk_live|akia|aiza|hf_|npm_|pypi-|sg\.|xai-|gsk_|pplx-|r8_|whsec_|dop_v1)(?![a-z]{4})",
        "",
    ),
    (
        "token",
        r"(?:gh[oprsu]_|github_pat_|glpat-|xox[abprs]-|xapp-|eyj[a-z0-9]|ya29\.|shpat_|lin_api_|ntn_|figd_)",
        "",
    ),
    (
        "connection",
        r"hooks\.slack\.com/|\S{0,99}/api/webhooks/|[a-z+]{2,20}://[^\s/:@]{1,40}:[^\s/@]{1,40}@|accountkey=",
        "",
    ),
    ("card", r"(?:4111|4242)-?(?:1111|4242)|xxxx-xxxx-xxxx|mm/yy(?:yy)?\b", ""),
    ("session", r"document\.cookie\b", ""),
    (
        "password",
        r"user(?:name)?:pass(?:word)?\b|\S{0,99}(?:/etc/shadow|\.env|\.netrc|\.pgpass|credentials\.json)\b",
        "naming | meta | question",
    ),
)
"""
What secrets look like, as descriptions put it.

For each kind: how the word begins, in lower case, and which signs beside it
say that it is only spoken about.
"""

HIDDEN = "\u115f\u1160\u3164\uffa0\u2800\U000e0000-\U000e0fff"
"""Letters without ink that Unicode counts as letters."""

PREFIXES = ("ال", "وال", "بال", "لل", "ו", "ה", "ב", "ל", "של", "و", "ب", "ل")
"""Short words that Arabic and Hebrew words take before them."""

LETTERS: Mapping[int, str] = str.maketrans(
    {
        **dict(zip("ıøØłŁđĐħŧɑɡ", "ioOlLdDhtag", strict=True)),
        **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True)),
        **{chr(block + at): chr(0x61 + at) for block in (0x1F150, 0x1F170, 0x1F1E6) for at in range(26)},
        **{"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "ð": "d"},
        **{"ي": "ی", "ى": "ی", "ك": "ک", "ة": "ه", "ـ": ""},
    }
)
"""Letters that are written in several ways: with strokes, as small capitals, in boxes."""

LOOKALIKES: Mapping[int, int] = str.maketrans(
    "аеорсухіјѕһԁԛԝӏѵькптвмнгиАЕОРСУХІЈЅКТВМНΑΒΕΖΗΙΚΜΝΟΡΤΥΧαονρικτυγωϲϳօսոհց",
    "aeopcyxijshdqwlvbkntbmhruAEOPCYXIJSKTBMHABEZHIKMNOPTYXaovpiktuywcjounhg",
)
"""Letters of other alphabets that are drawn like Latin ones."""

LEET: tuple[Mapping[int, int], ...] = (
    str.maketrans("013457892@$", "oieastbgzas"),
    str.maketrans("013457892@$", "oleastbgzas"),
)
"""Digits and signs that stand for letters."""

UMLAUTS: Mapping[int, str] = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
"""How people write who have no umlauts."""

# --- Answers ----------------------------------------------------------------

KEYS: tuple[tuple[SecretKind, str, str, str], ...] = (
    ("api_key", "AWS", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("api_key", "AWS", "ABSK", r"[A-Za-z0-9+/]{100,300}={0,2}"),
    ("token", "GitHub", "gho_ ghp_ ghr_ ghs_ ghu_", r"[A-Za-z0-9]{30,255}"),
    ("token", "GitHub", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    (
        "token",
        "GitLab",
        "glpat- glptt- glrt- gldt- glft- glimt- glagent- glsoat- gloas- glcbt- glffct- glwt-",
        r"[\w-]{20,300}",
    ),
    ("token", "GitLab", "GR1348941", r"[\w-]{20,60}"),
    ("token", "Bitbucket", "ATBB", r"[A-Za-z0-9]{24,60}"),
    ("token", "Atlassian", "ATATT3 ATCTT3 ATSTT3", r"[\w=-]{20,400}"),
    ("token", "Trello", "ATTA", r"[0-9a-fA-F]{60,76}"),
    ("token", "Slack", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp-", r"[A-Za-z0-9-]{10,300}"),
    ("token", "Slack", "xapp-", r"\d-[A-Za-z0-9-]{20,300}"),
    ("connection", "Slack", "hooks.slack.com/ hooks.slack-gov.com/", r"(?:services|workflows|triggers)/[\w/-]{16,200}"),
    (
        "connection",
        "Discord",
        "discord.com/api/ discordapp.com/api/",
        r"(?:v\d{1,2}/)?webhooks/\d{16,22}/[\w-]{40,100}",
    ),
    ("connection", "Google", "chat.googleapis.com/", r"v1/spaces/[\w-]{1,60}/messages\?\S{20,300}"),
    ("connection", "Zapier", "hooks.zapier.com/", r"hooks/catch/\d{4,12}/\w{4,20}"),
    ("connection", "IFTTT", "maker.ifttt.com/", r"trigger/[\w-]{1,60}/with/key/[\w-]{10,60}"),
    ("api_key", "Stripe", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{16,250}"),
    ("api_key", "Stripe", "whsec_", r"[A-Za-z0-9+/=]{24,100}"),
    ("api_key", "ElevenLabs", "sk_", r"[0-9a-f]{40,64}(?![0-9a-f])"),
    ("api_key", "Anthropic", "sk-ant-", r"[\w-]{20,250}"),
    ("api_key", "OpenRouter", "sk-or-v1-", r"[0-9a-f]{40,80}"),
    (
        "api_key",
        "OpenAI",
        "sk-proj- sk-svcacct- sk-admin- sk-None- sk-service- sk-lf- sk-live- sk-test-",
        r"[\w-]{20,250}",
    ),
    ("api_key", "OpenAI", "sk-", r"(?=[A-Za-z]*\d)[A-Za-z0-9]{20,120}"),
    ("api_key", "Google", "AIza", r"[\w-]{35}"),
    ("token", "Google", "ya29.", r"[\w.-]{20,400}"),
    ("api_key", "Google", "GOCSPX-", r"[\w-]{20,60}"),
    ("token", "Google", "1//0", r"[\w-]{30,200}"),
    ("token", "Hugging Face", "hf_ api_org_", r"[A-Za-z0-9]{30,60}"),
    ("token", "npm", "npm_", r"[A-Za-z0-9]{30,60}"),
    ("token", "PyPI", "pypi-", r"[\w-]{30,400}"),
    ("token", "RubyGems", "rubygems_", r"[0-9a-f]{40,60}"),
    ("token", "crates.io", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("token", "NuGet", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])"),
    ("token", "Docker", "dckr_pat_ dckr_oat_", r"[\w-]{20,60}"),
    ("token", "Clojars", "CLOJARS_", r"[A-Za-z0-9]{50,70}"),
    ("api_key", "SendGrid", "SG.", r"[\w-]{16,40}\.[\w-]{16,80}"),
    ("api_key", "Mailgun", "key-", r"[0-9a-f]{32}(?![0-9a-f])"),
    ("api_key", "Brevo", "xkeysib- xsmtpsib-", r"[0-9a-f]{40,80}-\w{8,20}"),
    ("api_key", "Resend", "re_", r"[A-Za-z0-9]{6,12}_[A-Za-z0-9]{16,40}"),
    ("api_key", "Twilio", "SK", r"[0-9a-f]{32}(?![0-9a-f])"),
    ("token", "DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    ("token", "Heroku", "HRKU-", r"[\w-]{30,80}"),
    ("token", "Netlify", "nfp_ nfc_ nfo_ nfu_ nfb_ nfs_", r"[A-Za-z0-9]{30,60}"),
    ("token", "Vercel", "vca_ vcp_ vci_ vck_ vcr_ vercel_blob_rw_", r"\w{20,80}"),
    ("token", "Supabase", "sbp_ sbv_", r"[0-9a-f]{40}"),
    ("api_key", "Supabase", "sb_secret_", r"[\w-]{20,60}"),
    ("token", "PlanetScale", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.=-]{30,80}"),
    ("token", "Doppler", "dp.pt. dp.st. dp.ct. dp.scim. dp.audit. dp.sa.", r"[\w.-]{30,100}"),
    ("token", "Databricks", "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    ("token", "Vault", "hvs. hvb. hvr.", r"[\w-]{20,300}"),
    ("token", "Vault", "s.", r"[A-Za-z0-9]{24}(?![\w.])"),
    ("token", "Pulumi", "pul-", r"[0-9a-f]{40}"),
    ("token", "Grafana", "glc_ glsa_", r"[A-Za-z0-9+/=_]{30,400}"),
    ("api_key", "New Relic", "NRAK- NRAL- NRII- NRSP- NRAA-", r"[A-Za-z0-9]{20,64}"),
    ("token", "Sentry", "sntrys_ sntryu_", r"[\w+/=]{40,400}"),
    ("api_key", "PostHog", "phx_", r"[A-Za-z0-9]{30,60}"),
    ("token", "Linear", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{30,80}"),
    ("token", "Notion", "ntn_ secret_", r"[A-Za-z0-9]{30,60}"),
    ("token", "Airtable", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{60,70}"),
    ("token", "Figma", "figd_ figo_ figu_ figr_", r"[\w-]{20,80}"),
    ("token", "Dropbox", "sl.", r"(?:u\.)?[\w-]{60,300}"),
    ("token", "Shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9a-fA-F]{30,40}"),
    ("token", "Square", "sq0atp- sq0csp- sq0idp-", r"[\w-]{20,50}"),
    ("token", "Square", "EAAA", r"[\w-]{56,64}(?![\w-])"),
    ("token", "Facebook", "EAA", r"[A-Za-z0-9]{60,300}"),
    ("token", "PayPal", "access_token$production$", r"\w{16}\$[0-9a-f]{32}"),
    ("token", "Plaid", "access-sandbox- access-development- access-production-", r"[0-9a-f-]{36}"),
    ("token", "Twitter", "AAAAAAAAAAAAAAAAAAAA", r"[\w%]{30,120}"),
    ("token", "Mapbox", "sk.eyJ", r"[\w-]{20,200}\.[\w-]{16,60}"),
    ("token", "CircleCI", "CCIPAT_ CCIPRJ_", r"[\w-]{20,100}"),
    ("token", "Buildkite", "bkua_ bkpt_ bkct_ bkat_", r"[0-9a-f]{40}"),
    ("token", "Sonar", "sqa_ sqp_ squ_", r"[0-9a-f]{40}"),
    ("api_key", "LaunchDarkly", "sdk- api- rel-", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("token", "Twitch", "oauth:", r"[a-z0-9]{30}(?![a-z0-9])"),
    ("token", "Contentful", "CFPAT-", r"[\w-]{40,50}"),
    ("api_key", "Prefect", "pnb_ pnu_", r"[A-Za-z0-9]{36}"),
    ("token", "Replicate", "r8_", r"[A-Za-z0-9]{30,45}"),
    ("api_key", "Groq", "gsk_", r"[A-Za-z0-9]{40,60}"),
    ("api_key", "Perplexity", "pplx-", r"[A-Za-z0-9]{40,60}"),
    ("api_key", "xAI", "xai-", r"[A-Za-z0-9]{40,90}"),
    ("api_key", "Together", "tgp_v1_", r"[\w-]{30,60}"),
    ("api_key", "Fireworks", "fw_", r"[A-Za-z0-9]{22,30}(?![A-Za-z0-9])"),
    ("api_key", "Pinecone", "pcsk_", r"\w{40,90}"),
    ("api_key", "NVIDIA", "nvapi-", r"[\w-]{40,90}"),
    ("api_key", "LangSmith", "lsv2_pt_ lsv2_sk_ ls__", r"[0-9a-f]{32}(?:_[0-9a-f]{10})?"),
    ("api_key", "Tavily", "tvly-", r"[\w-]{20,60}"),
    ("api_key", "Firecrawl", "fc-", r"[0-9a-f]{32}"),
    ("api_key", "Browserbase", "bb_live_ bb_test_", r"[\w-]{20,50}"),
    ("api_key", "Brave", "BSA", r"[\w-]{24,36}(?![\w-])"),
    ("api_key", "Jina", "jina_", r"[0-9a-f]{32}\w{20,40}"),
    ("api_key", "Voyage", "pa-", r"[\w-]{43}(?![\w-])"),
    ("token", "Neon", "napi_", r"[a-z0-9]{40,80}"),
    ("password", "Neon", "npg_", r"[A-Za-z0-9]{10,40}"),
    ("token", "Render", "rnd_", r"[A-Za-z0-9]{26,40}"),
    ("token", "Fly.io", "fo1_", r"[\w-]{40,50}"),
    ("token", "Fly.io", "FlyV1", r" fm\d{1,2}_[\w+/=,-]{40,600}"),
    ("token", "Tailscale", "tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook-", r"[A-Za-z0-9-]{12,80}"),
    ("token", "1Password", "ops_eyJ", r"[\w-]{60,900}"),
    ("api_key", "1Password", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){3,5}"),
    ("api_key", "Alibaba", "LTAI", r"[A-Za-z0-9]{12,24}(?![A-Za-z0-9])"),
    ("api_key", "Tencent", "AKID", r"[A-Za-z0-9]{28,40}(?![A-Za-z0-9])"),
    ("api_key", "Yandex", "AQVN", r"[\w-]{34,40}"),
    ("token", "Yandex", "y0_ y1_ y2_ y3_", r"[\w-]{50,70}"),
    ("token", "HubSpot", "pat-na pat-eu pat-ap", r"\d-[0-9a-f-]{36}"),
    ("token", "Typeform", "tfp_", r"[\w.=-]{40,70}"),
    ("api_key", "Postman", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("token", "Sourcegraph", "sgp_ sgd_", r"[0-9a-f_]{40,80}"),
    ("token", "JFrog", "AKCp", r"[A-Za-z0-9]{60,80}"),
    ("token", "OpenShift", "sha256~", r"[\w-]{43}"),
    ("api_key", "EasyPost", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    ("token", "Shippo", "shippo_live_ shippo_test_", r"[0-9a-f]{40}"),
    ("token", "Duffel", "duffel_live_ duffel_test_", r"[\w-]{40,50}"),
    ("api_key", "Flutterwave", "FLWSECK- FLWSECK_TEST-", r"[\w-]{20,60}"),
    ("api_key", "Mollie", "live_ test_", r"(?=[A-Za-z]*\d)[A-Za-z0-9]{30,45}(?![A-Za-z0-9])"),
    ("token", "Dynatrace", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("token", "ReadMe", "rdme_", r"[a-z0-9]{60,80}"),
    ("token", "ClickUp", "pk_", r"\d{6,10}_[A-Z0-9]{32}"),
    ("api_key", "Cloudflare", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,160}"),
    ("token", "Discord", "mfa.", r"[\w-]{80,100}"),
    ("private_key", "PuTTY", "PuTTY-User-Key-File-", r"\d"),
    ("private_key", "OpenSSH", "b3BlbnNzaC1rZXktdjE", r""),
    ("private_key", "age", "AGE-SECRET-KEY-1", r"[0-9A-Z]{40,60}"),
    ("private_key", "Bitcoin", "xprv yprv zprv", r"[A-Za-z0-9]{90,120}"),
    ("private_key", "Nostr", "nsec1", r"[a-z0-9]{58}(?![a-z0-9])"),
    ("one_time_code", "an authenticator", "otpauth://totp/ otpauth://hotp/", r"\S{0,200}[?&]secret=[A-Za-z2-7]{8,}"),
    ("password", "a Wi-Fi network", "WIFI:", r"(?:[TSHREAI]:[^;]{0,64};){0,5}P:[^;]{1,64};"),
    ("password", "a login", "machine", r"\s{1,9}\S{1,200}\s{1,9}login\s{1,9}\S{1,200}\s{1,9}password\s{1,9}\S{2,}"),
    (
        "password",
        "a login",
        "curl wget http",
        r"\s[^\n]{0,300}?(?:-u|--user)[ =]{0,2}['\"]?[^\s:'\"$]{1,100}:[^\s'\"$]{3,}",
    ),
    ("password", "a login", "mysql mariadb", r"(?:dump|admin)?\s[^\n]{0,200}?-p[^\s$-][^\s$]{3,}"),
    ("password", "a login", "sshpass", r"\s{1,9}-p\s{0,9}['\"]?[^\s$'\"]{4,}"),
)
"""
Keys that are known by how they begin.

For each: what it is, who gives it out, its beginnings, and what follows.
Before it stands no letter and no digit.
"""

SHAPES: tuple[tuple[SecretKind, str, str], ...] = (
    (
        "private_key",
        "",
        r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|-----BEGIN OpenVPN Static key V1-----",
    ),
    ("token", "a signed token", r"(?<![\w-])eyJ[\w-]{8,2000}\.eyJ[\w-]{4,4000}\.[\w-]{8,2000}"),
    (
        "token",
        "an encrypted token",
        r"(?<![\w.-])eyJ[\w-]{8,2000}\.[\w-]{0,1000}\.[\w-]{10,100}\.[\w-]{10,4000}\.[\w-]{16,60}",
    ),
    ("token", "Telegram", r"(?<!\d)\d{8,10}:AA[\w-]{30,40}"),
    ("token", "Discord", r"(?<!\w)[MNO][A-Za-z0-9_-]{22,27}\.[\w-]{6}\.[\w-]{27,45}"),
    ("token", "Azure DevOps", r"[A-Za-z0-9]{40,80}AZDO[A-Za-z0-9]{4}"),
    ("api_key", "Azure", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}"),
    ("api_key", "Azure", r"(?i:accountkey|sharedaccesskey|sharedsecretvalue)=[A-Za-z0-9+/]{40,100}={0,2}"),
    (
        "connection",
        "a signed address",
        r"(?<=[?&])(?:sig=[A-Za-z0-9%+/=]{20,200}|X-(?:Amz|Goog)-Signature=[0-9a-f]{60,600})",
    ),
    ("connection", "Microsoft", r"\.webhook\.office\.com/webhookb2/[\w@/-]{40,300}"),
    ("api_key", "Mailchimp", r"(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}(?!\w)"),
    ("token", "Terraform", r"(?<!\w)[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,80}"),
    ("api_key", "MaxMind", r"\w{6}_\w{29}_mmk"),
    ("token", "Asana", r"(?<!\d)\d/\d{13,18}(?:/\d{13,18})?:[0-9a-f]{32}"),
    ("private_key", "Bitcoin", r"(?<!\w)(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KL][1-9A-HJ-NP-Za-km-z]{51})(?!\w)"),
    ("private_key", "Stellar", r"(?<!\w)S[A-Z2-7]{55}(?!\w)"),
    ("token", "a header", r"(?i:bearer)\s{1,9}(?=[\w.~+/-]{0,200}\d)[\w.~+/-]{16,2000}=*"),
    (
        "token",
        "a header",
        r"(?i:authorization)['\"]?\s{0,9}[:=]\s{0,9}['\"]?(?:(?i:basic|bearer|token|apikey|negotiate|ntlm)\s{1,9})?"
        r"(?=[\w.~+/-]{0,200}[\d=])[\w.~+/-]{8,2000}=*",
    ),
    ("session", "a browser", r"(?i:cookie)['\"]?\s{0,9}:\s{0,9}['\"]?[\w.-]{1,60}=[^\s;]{6,}"),
    (
        "session",
        "a browser",
        r"(?i:phpsessid|jsessionid|connect\.sid|sessionid|laravel_session|asp\.net_sessionid)=[\w%.-]{8,}",
    ),
)
"""Keys and the like that are known by their shape."""

VALUES: Mapping[SecretKind, str] = {
    "pin": r"\d{4,8}(?![\w%€$]|[.,:/-]\d| ?(?:mm|cm|m|kg|g|px|x|items|times|days)\b)",
    "one_time_code": r"(?=\D{0,8}\d)[A-Za-z0-9]{4,10}(?:[ -][A-Za-z0-9]{3,6}){0,3}(?![\w:/])",
    "card": r"(?:\d[ -]?){12,18}\d|\d{3,4}(?!\d)|\d\d ?/ ?\d\d",
    "bank_account": r"(?=(?:\D{0,2}\d){6})\w[\w ./-]{5,}",
    "identity_number": r"(?=(?:\D{0,2}\d){4})\w[\w ./-]{3,}",
    "security_answer": r"[^\W\d_]{2,}",
    "recovery_phrase": r"(?:[^\W\d_]{3,12}[\s,]+){8,}",
    "api_key": r"(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])[^\s\"'<>,;]{8,}|[A-Za-z+/=_-]{24,}",
    "token": r"(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])[^\s\"'<>,;]{8,}|[A-Za-z+/=_-]{24,}",
    "private_key": r"(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])[^\s\"'<>,;]{16,}|[A-Za-z+/=_-]{24,}",
    "session": r"(?=\S{0,200}\d)[^\s\"'<>,]{12,}",
    "password": r"(?=\S{0,60}[^\sA-Za-z])(?=\S{0,60}[^\W\d])[^\s\"'<>]{4,}|\d{4,}",
}
"""What a value looks like that stands after the name of a secret."""

NO_VALUES: frozenset[str] = frozenset(
    """string text varchar char bytes boolean bool integer number object uuid null none undefined true false empty
    blank unset missing todo unknown hidden redacted masked secret private confidential unchanged same forgotten lost
    encrypted hashed bcrypt plain plaintext auto default random generated disabled enabled wrong weak strong
    good""".split()
)
"""Words that describe a password and are none."""

NOBODY = frozenset({"user", "username", "login", "name", ""})
"""Whom documentation lets sign in."""

PATTERNS: Mapping[str, str] = {
    # How texts are written.
    "escaped": r"\\u\{[0-9a-f]{1,6}\}",
    "spelled": r"(?<![^\W_])[^\W_](?:[\W_]{1,3}[^\W_](?![^\W_])){2,}",
    "joint": r"\w[^\w\s]{1,2}\w",
    "joined": r"(?<!\w)\w+(?:[^\w\s]{1,2}\w+)+",
    "no_letters": r"[\W_]+",
    "hump": r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])",
    # Scripts that put no spaces between words, or hang endings on them.
    "unspaced": "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]",
    # Scripts whose words take short words before them and endings after them.
    "inflected": "[\u0590-\u06ff\u0900-\u0dff\u1200-\u137f]",
    # How the tables above are written.
    "names_of_signs": r"\[[^\]]*\]|[a-z_]+",
    "word_of_table": r"\w+",
    # What is worth a closer look.
    "odd": r"[-_/=.@]\w|[-_]$",
    "long": r"\S{12}|-----BEGIN|\s-[pu]|\bmachine\s",
    "many_digits": r"\d(?:[ -]?\d){8}",
    "beginning": r"(?<![A-Za-z0-9])[A-Za-z0-9]\S",
    "foreign_digit": r"(?![0-9])\d",
    "word": r"[A-Za-z]+",
    # A name and its value.
    "is": r"""(?x)
        (?: => | := | ={1,3} | [:：] (?! // ) ) \s*
        | \s (?: is | ist | est | es | jest | är | er | é | è | lautet | it's ) \s
        | (?<= [一-龥] ) [是为為] \s* | は (?= [!-~] )
    """,
    "before_label": r"(?s).*(?:[\n;&{}<>(),?|\"`=:：/]|(?<!\w)'|'(?!\w))",
    "flag": r"(?:^|\s)--?([A-Za-z][\w-]{1,40}) (\"[^\"]{4,}\"|'[^']{4,}'|[^\s-]\S{3,})",
    "tag": r"<([A-Za-z][\w.:-]{1,40})>([^<>\n]{3,200})</",
    "random": r"(?<![\w/.=:-])(?=[A-Za-z_-]{0,40}\d)(?=[\d_-]{0,40}[A-Za-z])[\w-]{20,200}(?![\w/.-])",
    "quoted": r"([\"'`])(.{1,299}?)\1",
    "user_in_url": r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://([^\s/:@?#]{0,200}):([^\s/@]{1,200})@",
    # What stands where a value was, or will be.
    "masked": r"""(?x)
        (?: [*•·_-] | \.{3} | … | [xX]{3} | \#{3} )+ $
        | [<\[{(«$%!&]
        | .* (?: EXAMPLE | YOUR | REPLACE | CHANGE_?ME | PLACEHOLDER | REDACTED | xxxx | XXXX | \*\*\* )
        | (?i: your | my | some | the ) [-_ ]
        | (?: process | os | self | config | settings | secrets | vars | env | getenv | System ) [.\[(]
        | (?: vault | op | ref | ssm | awssm | gcpsm | arn | file | env | secret | secretref | https? | data | urn ) :
          (?! .* @ )
        | (?: ~ | \.{1,2} )? / | [A-Za-z] :\\
    """,
    # Cards, from Visa to Troy: what they begin with, and how long they are.
    "card": r"""(?x) (?<! [\w+-] ) (?<! \d[.\ -] )
        ( \d{13,19} | \d{4} (?: [\ -]\d{4} ){2} [\ -]\d{1,7} | \d{4} [\ -] \d{6} [\ -] \d{4,5} ) (?! \w | [.\ -]\d )""",
    "issued_cards": r"""(?x)
        4\d{15}
        | (?: 5[1-5]\d\d | 222[1-9] | 22[3-9]\d | 2[3-6]\d\d | 27[01]\d | 2720 ) \d{12}
        | 3[47]\d{13}
        | (?: 6011 | 65\d\d | 64[4-9]\d ) \d{12}
        | 3 (?: 0[0-5] | [689]\d ) \d{11}
        | 35 (?: 2[89] | [3-8]\d ) \d{12}
        | 62\d{14,17}
        | (?: 5018 | 5020 | 5038 | 5893 | 6304 | 6759 | 676[1-3] ) \d{8,15}
        | (?: 508[5-9] | 60[6-8]\d | 81\d\d | 82\d\d ) \d{12}
        | 220[0-4]\d{12}
        | 9792\d{12}
    """,
    "iban": r"\b[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b",
    # A US social security number, and what makes its dashes another number's.
    "ssn": r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])",
    "not_ssn": r"""(?xi)
        \b (?: part | order | item | sku | serial | ref | reference | case | ticket | model | invoice | no | nr | phone
              | tel ) \b
        \W{0,3} (?: no | number | id )? \W{0,3} $
    """,
}
"""The other shapes that texts and answers have."""

RECOVERY_WORDS = """
abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid
acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult advance advice
aerobic affair afford afraid again age agent agree ahead aim air airport aisle alarm album alcohol alert alien all
alley allow almost alone alpha already also alter always amateur amazing among amount amused analyst anchor ancient
anger angle angry animal ankle announce annual another answer antenna antique anxiety any apart apology appear apple
approve april arch arctic area arena argue arm armed armor army around arrange arrest arrive arrow art artefact artist
artwork ask aspect assault asset assist assume asthma athlete atom attack attend attitude attract auction audit august
aunt author auto autumn average avocado avoid awake aware away awesome awful awkward axis baby bachelor bacon badge
bag balance balcony ball bamboo banana banner bar barely bargain barrel base basic basket battle beach bean beauty
because become beef before begin behave behind believe below belt bench benefit best betray better between beyond
bicycle bid bike bind biology bird birth bitter black blade blame blanket blast bleak bless blind blood blossom blouse
blue blur blush board boat body boil bomb bone bonus book boost border boring borrow boss bottom bounce box boy
bracket brain brand brass brave bread breeze brick bridge brief bright bring brisk broccoli broken bronze broom
brother brown brush bubble buddy budget buffalo build bulb bulk bullet bundle bunker burden burger burst bus business
busy butter buyer buzz cabbage cabin cable cactus cage cake call calm camera camp can canal cancel candy cannon canoe
canvas canyon capable capital captain car carbon card cargo carpet carry cart case cash casino castle casual cat
catalog catch category cattle caught cause caution cave ceiling celery cement census century cereal certain chair
chalk champion change chaos chapter charge chase chat cheap check cheese chef cherry chest chicken chief child chimney
choice choose chronic chuckle chunk churn cigar cinnamon circle citizen city civil claim clap clarify claw clay clean
clerk clever click client cliff climb clinic clip clock clog close cloth cloud clown club clump cluster clutch coach
coast coconut code coffee coil coin collect color column combine come comfort comic common company concert conduct
confirm congress connect consider control convince cook cool copper copy coral core corn correct cost cotton couch
country couple course cousin cover coyote crack cradle craft cram crane crash crater crawl crazy cream credit creek
crew cricket crime crisp critic crop cross crouch crowd crucial cruel cruise crumble crunch crush cry crystal cube
culture cup cupboard curious current curtain curve cushion custom cute cycle dad damage damp dance danger daring dash
daughter dawn day deal debate debris decade december decide decline decorate decrease deer defense define defy degree
delay deliver demand demise denial dentist deny depart depend deposit depth deputy derive describe desert design desk
despair destroy detail detect develop device devote diagram dial diamond diary dice diesel diet differ digital dignity
dilemma dinner dinosaur direct dirt disagree discover disease dish dismiss disorder display distance divert divide
divorce dizzy doctor document dog doll dolphin domain donate donkey donor door dose double dove draft dragon drama
drastic draw dream dress drift drill drink drip drive drop drum dry duck dumb dune during dust dutch duty dwarf
dynamic eager eagle early earn earth easily east easy echo ecology economy edge edit educate effort egg eight either
elbow elder electric elegant element elephant elevator elite else embark embody embrace emerge emotion employ empower
empty enable enact end endless endorse enemy energy enforce engage engine enhance enjoy enlist enough enrich enroll
ensure enter entire entry envelope episode equal equip era erase erode erosion error erupt escape essay essence estate
eternal ethics evidence evil evoke evolve exact example excess exchange excite exclude excuse execute exercise exhaust
exhibit exile exist exit exotic expand expect expire explain expose express extend extra eye eyebrow fabric face
faculty fade faint faith fall false fame family famous fan fancy fantasy farm fashion fat fatal father fatigue fault
favorite feature february federal fee feed feel female fence festival fetch fever few fiber fiction field figure file
film filter final find fine finger finish fire firm first fiscal fish fit fitness fix flag flame flash flat flavor
flee flight flip float flock floor flower fluid flush fly foam focus fog foil fold follow food foot force forest
forget fork fortune forum forward fossil foster found fox fragile frame frequent fresh friend fringe frog front frost
frown frozen fruit fuel fun funny furnace fury future gadget gain galaxy gallery game gap garage garbage garden garlic
garment gas gasp gate gather gauge gaze general genius genre gentle genuine gesture ghost giant gift giggle ginger
giraffe girl give glad glance glare glass glide glimpse globe gloom glory glove glow glue goat goddess gold good goose
gorilla gospel gossip govern gown grab grace grain grant grape grass gravity great green grid grief grit grocery group
grow grunt guard guess guide guilt guitar gun gym habit hair half hammer hamster hand happy harbor hard harsh harvest
hat have hawk hazard head health heart heavy hedgehog height hello helmet help hen hero hidden high hill hint hip hire
history hobby hockey hold hole holiday hollow home honey hood hope horn horror horse hospital host hotel hour hover
hub huge human humble humor hundred hungry hunt hurdle hurry hurt husband hybrid ice icon idea identify idle ignore
ill illegal illness image imitate immense immune impact impose improve impulse inch include income increase index
indicate indoor industry infant inflict inform inhale inherit initial inject injury inmate inner innocent input
inquiry insane insect inside inspire install intact interest into invest invite involve iron island isolate issue item
ivory jacket jaguar jar jazz jealous jeans jelly jewel job join joke journey joy judge juice jump jungle junior junk
just kangaroo keen keep ketchup key kick kid kidney kind kingdom kiss kit kitchen kite kitten kiwi knee knife knock
know lab label labor ladder lady lake lamp language laptop large later latin laugh laundry lava law lawn lawsuit layer
lazy leader leaf learn leave lecture left leg legal legend leisure lemon lend length lens leopard lesson letter level
liar liberty library license life lift light like limb limit link lion liquid list little live lizard load loan
lobster local lock logic lonely long loop lottery loud lounge love loyal lucky luggage lumber lunar lunch luxury
lyrics machine mad magic magnet maid mail main major make mammal man manage mandate mango mansion manual maple marble
march margin marine market marriage mask mass master match material math matrix matter maximum maze meadow mean
measure meat mechanic medal media melody melt member memory mention menu mercy merge merit merry mesh message metal
method middle midnight milk million mimic mind minimum minor minute miracle mirror misery miss mistake mix mixed
mixture mobile model modify mom moment monitor monkey monster month moon moral more morning mosquito mother motion
motor mountain mouse move movie much muffin mule multiply muscle museum mushroom music must mutual myself mystery myth
naive name napkin narrow nasty nation nature near neck need negative neglect neither nephew nerve nest net network
neutral never news next nice night noble noise nominee noodle normal north nose notable note nothing notice novel now
nuclear number nurse nut oak obey object oblige obscure observe obtain obvious occur ocean october odor off offer
office often oil okay old olive olympic omit once one onion online only open opera opinion oppose option orange orbit
orchard order ordinary organ orient original orphan ostrich other outdoor outer output outside oval oven over own
owner oxygen oyster ozone pact paddle page pair palace palm panda panel panic panther paper parade parent park parrot
party pass patch path patient patrol pattern pause pave payment peace peanut pear peasant pelican pen penalty pencil
people pepper perfect permit person pet phone photo phrase physical piano picnic picture piece pig pigeon pill pilot
pink pioneer pipe pistol pitch pizza place planet plastic plate play please pledge pluck plug plunge poem poet point
polar pole police pond pony pool popular portion position possible post potato pottery poverty powder power practice
praise predict prefer prepare present pretty prevent price pride primary print priority prison private prize problem
process produce profit program project promote proof property prosper protect proud provide public pudding pull pulp
pulse pumpkin punch pupil puppy purchase purity purpose purse push put puzzle pyramid quality quantum quarter question
quick quit quiz quote rabbit raccoon race rack radar radio rail rain raise rally ramp ranch random range rapid rare
rate rather raven raw razor ready real reason rebel rebuild recall receive recipe record recycle reduce reflect reform
refuse region regret regular reject relax release relief rely remain remember remind remove render renew rent reopen
repair repeat replace report require rescue resemble resist resource response result retire retreat return reunion
reveal review reward rhythm rib ribbon rice rich ride ridge rifle right rigid ring riot ripple risk ritual rival river
road roast robot robust rocket romance roof rookie room rose rotate rough round route royal rubber rude rug rule run
runway rural sad saddle sadness safe sail salad salmon salon salt salute same sample sand satisfy satoshi sauce
sausage save say scale scan scare scatter scene scheme school science scissors scorpion scout scrap screen script
scrub sea search season seat second secret section security seed seek segment select sell seminar senior sense
sentence series service session settle setup seven shadow shaft shallow share shed shell sheriff shield shift shine
ship shiver shock shoe shoot shop short shoulder shove shrimp shrug shuffle shy sibling sick side siege sight sign
silent silk silly silver similar simple since sing siren sister situate six size skate sketch ski skill skin skirt
skull slab slam sleep slender slice slide slight slim slogan slot slow slush small smart smile smoke smooth snack
snake snap sniff snow soap soccer social sock soda soft solar soldier solid solution solve someone song soon sorry
sort soul sound soup source south space spare spatial spawn speak special speed spell spend sphere spice spider spike
spin spirit split spoil sponsor spoon sport spot spray spread spring spy square squeeze squirrel stable stadium staff
stage stairs stamp stand start state stay steak steel stem step stereo stick still sting stock stomach stone stool
story stove strategy street strike strong struggle student stuff stumble style subject submit subway success such
sudden suffer sugar suggest suit summer sun sunny sunset super supply supreme sure surface surge surprise surround
survey suspect sustain swallow swamp swap swarm swear sweet swift swim swing switch sword symbol symptom syrup system
table tackle tag tail talent talk tank tape target task taste tattoo taxi teach team tell ten tenant tennis tent term
test text thank that theme then theory there they thing this thought three thrive throw thumb thunder ticket tide
tiger tilt timber time tiny tip tired tissue title toast tobacco today toddler toe together toilet token tomato
tomorrow tone tongue tonight tool tooth top topic topple torch tornado tortoise toss total tourist toward tower town
toy track trade traffic tragic train transfer trap trash travel tray treat tree trend trial tribe trick trigger trim
trip trophy trouble truck true truly trumpet trust truth try tube tuition tumble tuna tunnel turkey turn turtle twelve
twenty twice twin twist two type typical ugly umbrella unable unaware uncle uncover under undo unfair unfold unhappy
uniform unique unit universe unknown unlock until unusual unveil update upgrade uphold upon upper upset urban urge
usage use used useful useless usual utility vacant vacuum vague valid valley valve van vanish vapor various vast vault
vehicle velvet vendor venture venue verb verify version very vessel veteran viable vibrant vicious victory video view
village vintage violin virtual virus visa visit visual vital vivid vocal voice void volcano volume vote voyage wage
wagon wait walk wall walnut want warfare warm warrior wash wasp waste water wave way wealth weapon wear weasel weather
web wedding weekend weird welcome west wet whale what wheat wheel when where whip whisper wide width wife wild will
win window wine wing wink winner winter wire wisdom wise wish witness wolf woman wonder wood wool word work world
worry worth wrap wreck wrestle wrist write wrong yard year yellow you young youth zebra zero zone zoo
"""
"""
The words that recovery phrases are made of: BIP-39, English.

https://github.com/bitcoin/bips/blob/master/bip-0039/english.txt
"""
