"""Words that tell nothing of what a text is about, in some languages (B-6).

Each list holds what frequency lists of the language have on top, the words in which people ask and request, and the
words in which memories are usually written (`the user prefers …`). A word too much in a list costs a memory that is
found by another word; a word too few lets a memory in that has nothing to do with the question.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH = """
a able about above actually after again ago all almost along already also although always am among an and another any
anybody anyone anything anyway are around as ask asked asking at away back be because become been before being below
best better between both but by call called came can cannot come could d did didn different do does doesn doing don
done down during each either else enough etc even ever every everybody everyone everything everywhere far few finally
first following for found from further gave general generally get gets getting give given go goes going gone good got
great had happen hardly has hasn have haven having he hello help hence her here hers hey hi him his how however i idea
if in instead into is isn it its itself just keep kept kind knew know known last later least less let like liked likes
likely little ll long look lot m made main mainly make makes making many matter may maybe me mean means meant
meanwhile might mine more most mostly much must my near necessary need needed needs neither never new next nice no
nobody none nor normal normally not nothing now of off often oh ok okay old on once one ones only onto or other others
otherwise our ours out over own part particular per perhaps please point possible probably prefer preference preferred
prefers put quite rather re really recent remember remembered remind said same saw say says second see seem seen
several shall she should show shown side similar simple simply since so some somebody someone something sometimes
somewhere soon sort still stuff such sure t take taken takes talk talked tell than thank thanks that the their theirs
them then there these they thing things think this those though thought three through thus time times to today
together told tomorrow too took toward tried true try trying two under unless until up upon us usual usually various
ve very via want wanted wants was way ways we well went were what whatever when where whether which while who whole
whom whose why will wish with within without won wonder word words would wrong yeah yes yesterday yet you your yours
use used user users uses using utilize project projects team habit
"""
_GERMAN = """
aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist bitte da
dabei damit danach dann das dass dein deine dem den denn der des deshalb dich die dies diese diesem diesen dieser
dieses dir doch dort du durch ein eine einem einen einer eines einfach er erst es etwas euch euer für gar ganz geben
gegen gehen genau gibt gut habe haben hast hat hatte hier hin ich ihm ihn ihnen ihr ihre im immer in ins ist ja jede
jeden jeder jetzt kann kannst kein keine keinen können könnte lieber machen mag mal man manche mehr mein meine meinem
meinen mich mir mit möchte mögen muss müssen nach nein nicht nichts noch nun nur nutzt nutzer nutzerin ob oder ohne
projekt schon sehr sein seine seit sich sie sind so soll sollen sollte sondern sonst team über um und uns unser unsere
unter viel vom von vor war warum was weil welche welchem welchen welcher welches wenn wer werden wie wieder will wir
wird wo wurde würde zu zum zur zwei zwischen verwendet verwenden benutzt benutzer bevorzugt wollen
"""
_FRENCH = """
ai aime alors as au aucun aussi autre aux avant avec avez avoir avons bien ce cela celle celui ces cet cette ceux
chaque chez comme comment dans de depuis des deux dois doit donc dont du elle elles en encore entre est et étaient
était être eu fait faire faut il ils je jamais la là le les leur leurs lui ma mais me même mes moi moins mon ne ni non
nos notre nous on ont ou où par parce pas peu peut plus plutôt pour pourquoi préfère projet puis qu quand que quel
quelle quelles quels qui quoi sa sans se sera ses si son sont sous sur ta te tes toi ton toujours tous tout toute
toutes très tu un une utilise utiliser utilisateur utilisatrice veut voici voilà vos votre vous équipe
"""
_SPANISH = """
a al algo algún alguna ante antes aquí así aún aunque cada como cómo con contra cual cuál cuando cuándo cuanto cuánto
de del desde donde dónde dos el él ella ellas ellos en entre era es esa ese eso esta está están este esto estos fue ha
hace hacer han hasta hay la las le les lo los más me mi mis mucho muy nada ni no nos nosotros nuestra nuestro nunca o
otra otro para pero poco por porque prefiere proyecto puede puedo pues que qué quien quién quiere se sea según ser si
sí siempre sin sobre solo sólo son su sus también tan tanto te tengo ti tiene todo todos tu tus un una uno unos usa
usar usuario usuaria usted y ya yo equipo gusta
"""
_PORTUGUESE = """
ao aos aquela aquele as até com como da das de dela dele depois do dos ela ele eles em entre era essa esse esta este
eu foi foram há isso isto já lhe mais mas me mesmo meu minha muito na não nas nem no nos nós nossa nosso num numa o os
ou para pela pelo por porque prefere projeto qual quando que quem se sem ser seu sua são só também te tem tenho ter um
uma usa usar usuário utilizador você vocês equipe gosta onde quanto
"""
_ITALIAN = """
abbiamo ai al alla alle anche avere c che chi ci come con cosa cui da dal dalla de degli dei del della delle di dove è
e ed era essere fa fare fra gli ha hanno ho i il in io la le lei li lo loro lui ma me mi mia mio molto ne negli nei
nel nella no noi non nostra nostro o ogni per perché più poi preferisce progetto può quale quando quanto quella quello
questa questo se sei si sia sono su sua sul sulla suo tra tu tua tuo tutti tutto un una uno usa usare utente va vi voi
"""
_RUSSIAN = """
а без более бы был была были было быть в вам вас весь во вот все всё вы где да даже для до его ее её если есть ещё еще
же за здесь и из или им их к как какая какие какой когда который кто ли либо мне можно мой моя мы на над надо наш не
него нет ни них но ну о об однако он она они оно от очень по под пользователь предпочитает при про проект раз с сам
свой себя сейчас со так также такой там те тебя то тоже только тот ты у уже хочет чего чем что чтобы эта эти это этот
я использует команда почему сколько
"""
STOP = _words(f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH} {_PORTUGUESE} {_ITALIAN} {_RUSSIAN}")
WORK = _words(
    """
    add added adding adjust app apply begin bug build change changed changes check class clean client code complete
    configuration configure continue correct create created current default define delete describe do edit error
    errors example explain file files find finish fix fixed folder format function functions generate handle implement
    improve input install issue issues js line lines list load main md message messages method module move name names
    number numbers open output path print problem problems process program read refactor remove rename replace request
    response result results return review rewrite run running runs save server set setting setup source start state
    step steps stop string support switch system task tasks test tests text tool tools ts type types update value
    values variable version view work working works write written
    """
)
"""Words of which every conversation about programs is full: one of them alone is no evidence."""
VIETNAMESE = _words(
    """
    à ạ ai anh ấy bạn bao bằng bây bị bởi các cái cần chỉ chị cho chưa chúng chứ có còn của cũng cùng đã đang đây đấy
    để đến đều đi điều do đó được em gì giờ giúp hãy hay hết họ hoặc hơn khi không khoảng là lại làm lên lúc luôn mà
    mình mỗi một mọi muốn nào này nên nếu nhé nhiêu nhiều nhỉ như những nó nữa ở phải qua ra rất rồi sao sau sẽ tại
    thì theo thế thích thôi tôi trên trong trước từ từng và vào vẫn vậy về vì việc với xin vui lòng ơi cách câu hỏi
    trả lời biết nói hai ba hôm nay thật đâu khác người dùng dự án nhóm ưa chuộng
    """
)
VIETNAMESE_PARTS = _words(
    """
    ban biên biến biệt bài bên bình bước bản bảng bảo bộ cao chuyển chuẩn chính chương chạy chất chế chọn chức công cơ
    cấp cấu cầu cập cố cộng cụ cụm cứu danh diện dung dài dòng dùng dạng dẫn dịch dụng dữ dự dựng ghi gia giao giá
    giải giới gửi hiện hiệu hoàn hoạch hoạt hàm hàng hành hình hóa hướng hạn hệ học hội hợp khai khách khóa khẩu khối
    khởi kinh kiểm kiểu kiện kế kết kỳ linh liên liệu loại luận lí lý lưu lượng lập lệ lệnh lỗi lợi máy mã mô môi mạng
    mẫu mẹ mới mở mục nghiệp nghĩa nghệ ngoài nguyên nguồn ngày ngôn ngữ nhiệm nhà nhân nhất nhập nhật nhớ năm năng
    nội phiên pháp phát phân phép phí phòng phó phương phạm phần phẩm phối phụ phục quan quy quyết quyền quả quản quốc
    riêng soát sách sánh sơ sản sắp số sở sử sửa sự tham thay thi thiết thiểu thiện thuật thuộc thành thái thân thêm
    thông thường thể thống thời thức thử thực tin tiên tiêu tiến tiếng tiếp tiện toàn toán tra trang tri triển truy
    truyền trì trình trường trạng trọng trợ trữ trực tuyến tuần tài tái tán tên tình tích tính tóm tùy tương tạo tải
    tất tập tệp tố tối tổ tổng tục tự vi viên viết việc viện văn vấn vật vụ vực xem xuất xác xóa xếp xử yêu yếu án ý
    điểm điện đoạn đánh đích đúng đăng đơn đường đại đầu đặc địa định đọc đối đồng đổi độ động ảnh ứng
    """
)
"""Vietnamese syllables that are mostly parts of words: alone they say nothing, with a neighbour they do."""
VIETNAMESE_WORK = frozenset(
    {
        "chương trình",
        "dữ liệu",
        "hệ thống",
        "kiểm thử",
        "kiểm tra",
        "máy chủ",
        "mã nguồn",
        "thay đổi",
        "thông tin",
        "xử lý",
    }
)
VIETNAMESE_PAIRS = frozenset(
    {
        "bao nhiêu",
        "chúng tôi",
        "có thể",
        "dự án",
        "hiện tại",
        "người dùng",
        "sử dụng",
        "thế nào",
        "thực hiện",
        "yêu cầu",
    }
)
"""Pairs of syllables that say nothing."""
CHINESE = _words(
    """
    用户 使用者 项目 專案 团队 喜欢 喜歡 偏好 偏爱 更喜欢 倾向于 习惯 希望 想要 需要 应该 應該 可以 能够 能否 是否
    请问 請問 请帮我 帮我 幫我 帮忙 告诉我 告訴我 记住 記住 记得 我们 我們 你们 他们 它们 自己 大家 什么 甚麼 什麼
    怎么 怎麼 怎样 如何 为什么 為什麼 哪个 哪些 哪里 哪儿 多少 几个 几点 这个 這個 那个 那個 这些 那些 这里 那里 这样
    那样 现在 現在 今天 明天 昨天 以后 以前 之前 之后 时候 的时候 一个 一個 一下 一些 一样 一直 总是 總是 经常 通常
    已经 已經 还是 還是 或者 而且 并且 但是 因为 所以 如果 就是 不是 没有 沒有 不要 知道 觉得 认为 关于 關於 对于 根据
    通过 进行 使用 采用 问题 東西 东西 事情 方式 方法 情况 一起 其中 所有 全部 每个 每次 任何 其他 非常 比较 最好 只有
    必须 可能 谢谢 你好 您好 等于 第一 第二
    """
)
"""Chinese words, simplified and traditional, that say nothing of what a text is about."""
CHINESE_WORK = _words(
    """
    三个 两个 代码 任务 信息 修复 修改 内容 函数 创建 删除 功能 参数 变量 名称 工具 接口 数据 文件 新的 更新 服务 检查
    模块 步骤 测试 消息 添加 程序 类型 系统 结构 设置 输入 输出 运行 返回 配置 错误
    """
)
CHINESE_LETTERS = (
    "的了吗嗎呢吧啊呀哦嘛么麼是在有和与與及或而但就都也还還又很太更最不没沒别別把被给給让讓向从"
    "從到对對为為以于於用我你您他她它们們这這那哪谁誰个個些会會能要想请請叫说說做着著过過之其所"
    "此每各某几幾多少再只才得地上下里裡中内外前后後时時去来來看问問"
)
"""Chinese letters that are words of grammar."""
JAPANESE = _words(
    """
    利用者 使用 今日 何 私 方 事 時 場合 必要 好き 質問 教
    """
)
KOREAN = _words(
    """
    경우 그것 그러 그리 나는 누구 다른 대한 때문 몇 모두 무슨 무엇 사용 사용자 선호 싶습 싶어 어디 어떻 언제 얼마 없습
    오늘 왜 우리 위해 이것 있는 있습 저것 저는 좋아 지금 프로 하는 하지 합니 항상 해야 해주
    """
)
"""First two syllables of Korean words that say nothing."""
